import type { ActiveTool, HarnessMessage } from "@cinch/core";
import type { VNode } from "preact";
import { memo } from "preact/compat";
import { useMay } from "../page-context.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { when } from "../ui/format.ts";
import { contentText } from "./content-text.ts";
import { MessageView } from "./message.tsx";

interface Props {
  message: HarnessMessage;
  active: Readonly<Record<string, ActiveTool>>;
  isOver: boolean;
  onRewind: (message: HarnessMessage) => void;
}

/**
 * A message with what can be done with it. The actions stand in the space below it, so that nothing moves when they appear. While an answer
 * streams, the messages before it are not drawn again.
 */
export const ConversationEntry = memo(({ message, active, isOver, onRewind }: Props): VNode => {
  const { role, at, content } = message;
  const text = contentText(content);
  const mayRewind = useMay("manage");
  return (
    <div class={`entry ${role}`}>
      <MessageView message={message} active={active} isOver={isOver} />
      {role !== "note" && text !== "" && (
        <div class="actions">
          <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
            {when(at, Date.now())}
          </time>
          <CopyButton text={text} />
          {role === "user" && mayRewind && (
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
});
