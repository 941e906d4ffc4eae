import type { ActiveTool, HarnessMessage, Message } from "@cinch/core";
import type { VNode } from "preact";
import { memo } from "preact/compat";
import { useErrorBoundary } from "preact/hooks";
import { useMay } from "../page-context.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { fullTime, when } from "../ui/format.ts";
import { contentText } from "./content-text.ts";
import { MessageView } from "./message.tsx";

interface Props {
  /** One that streams has no `seq` yet. */
  message: HarnessMessage | Message;
  active: Readonly<Record<string, ActiveTool>>;
  isOver: boolean;
  onRewind: (message: HarnessMessage) => void;
}

/**
 * A message with what can be done with it. The actions stand in the space below it, so that nothing moves when they appear. An answer keeps
 * its elements when it has streamed: what a reader has unfolded in it stays so.
 */
export const ConversationEntry = memo(({ message, active, isOver, onRewind }: Props): VNode => {
  // One message that can't be drawn must not take the page with it.
  const [failure] = useErrorBoundary();
  const { role, content } = message;
  const hasEnded = "seq" in message;
  return (
    <div class={`entry ${role}`}>
      {failure ? (
        <p class="message typed">{contentText(content)}</p>
      ) : (
        <MessageView message={message} active={active} isStreaming={!hasEnded} isOver={isOver} />
      )}
      {hasEnded && role !== "note" && <Actions message={message} onRewind={onRewind} />}
    </div>
  );
});

function Actions({ message, onRewind }: { message: HarnessMessage; onRewind: Props["onRewind"] }): VNode | null {
  const mayRewind = useMay("manage");
  const { role, at, content } = message;
  const text = contentText(content);
  if (text === "") return null;
  return (
    <div class="actions">
      <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
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
  );
}
