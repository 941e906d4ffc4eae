import type { VNode } from "preact";

export interface PageNotice {
  id: number;
  text: string;
  isError: boolean;
  action?: { label: string; run: () => void };
}

/** What the page says in passing. Errors stay until they are closed. */
export const Notices = ({
  notices,
  onClose,
}: {
  notices: readonly PageNotice[];
  onClose: (id: number) => void;
}): VNode => (
  <div class="notices">
    {notices.map(({ id, text, isError, action }) => (
      <div key={id} class={isError ? "notice error" : "notice"} role={isError ? "alert" : "status"}>
        <span>{text}</span>
        {action && (
          <button
            type="button"
            onClick={() => {
              onClose(id);
              action.run();
            }}
          >
            {action.label}
          </button>
        )}
        <button type="button" class="quiet" aria-label="Close" onClick={() => onClose(id)}>
          ×
        </button>
      </div>
    ))}
  </div>
);
