import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A dialog of the browser: Esc closes it, and the focus returns to where it was. */
export function Modal({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}): VNode {
  const box = useRef<HTMLDialogElement>(null);
  // Before the next key: it is meant for the dialog.
  useLayoutEffect(() => {
    const dialog = box.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={box}
      class={wide ? "wide" : undefined}
      aria-label={title}
      onCancel={onClose}
      onClick={(event) => {
        if (event.target === box.current) onClose();
      }}
    >
      <div class="dialog">
        <h2>{title}</h2>
        {children}
        {/* After what the dialog is for, which gets the focus. */}
        <button type="button" class="quiet close" onClick={onClose} aria-label="Close">
          ×
        </button>
      </div>
    </dialog>
  );
}
