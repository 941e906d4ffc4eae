import type { HarnessMessage } from "@cinch/core";
import type { VNode } from "preact";
import { CopyButton } from "../ui/copy-button.tsx";
import { when } from "../ui/format.ts";
import { contentText } from "./content-text.ts";

interface Props {
  message: HarnessMessage;
  onRewind: (message: HarnessMessage) => void;
  children: VNode;
}

/** A message with what can be done with it. The actions stand in the space below it, so that nothing moves when they appear. */
export function ConversationEntry({ message, onRewind, children }: Props): VNode {
  const { role, at, content } = message;
  const text = contentText(content);
  return (
    <div class={`entry ${role}`}>
      {children}
      {role !== "note" && text !== "" && (
        <div class="actions">
          <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
            {when(at, Date.now())}
          </time>
          <CopyButton text={text} />
          {role === "user" && (
            <button
              type="button"
              class="quiet rewind"
              onClick={() => onRewind(message)}
              aria-label="Rewind to before this message"
            >
              Rewind
            </button>
          )}
        </div>
      )}
    </div>
  );
}
