import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

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
  useEffect(() => {
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
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet" onClick={onClose} aria-label="Close">
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
