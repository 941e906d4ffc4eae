import type { ActiveTool, HarnessMessage, Message, Part } from "@cinch/core";
import type { VNode } from "preact";
import { memo } from "preact/compat";
import { usePage } from "../page-context.ts";
import { Markdown } from "../text/markdown.tsx";
import { AttachedFile } from "./attached-file.tsx";
import { contentText } from "./content-text.ts";
import { ToolCallView } from "./tool-call.tsx";

type Shown = Message & Partial<Pick<HarnessMessage, "outcomes" | "interrupted" | "by" | "seq">>;

interface Props {
  message: Shown;
  /** The calls of this message that have not ended. The same object while none of them changes. */
  active: Readonly<Record<string, ActiveTool>>;
  isStreaming?: boolean;
  isOver: boolean;
}

export const MessageView = memo(({ message, active, isStreaming = false, isOver }: Props): VNode => {
  const { role, content } = message;
  const { by } = usePage().info;
  if (role === "note")
    return (
      <details class="note">
        <summary>Note to the model</summary>
        <p dir="auto">{contentText(content)}</p>
      </details>
    );
  return (
    <article class={`message ${role}`} aria-busy={isStreaming}>
      <h2 class="sr-only">{role === "user" ? (message.by ?? "You") : "Agent"}</h2>
      {role === "user" && message.by && message.by !== by && <span class="author">{message.by}</span>}
      {content.map((part, at) => (
        <PartView key={at} part={part} message={message} active={active} isOver={isOver} />
      ))}
      {message.interrupted && <p class="interrupted">Interrupted</p>}
    </article>
  );
});

function PartView({ part, message, active, isOver }: Omit<Props, "isStreaming"> & { part: Part }): VNode | null {
  switch (part.type) {
    case "text":
      return message.role === "user" ? (
        <p class="typed" dir="auto">
          {part.text}
        </p>
      ) : (
        <Markdown text={part.text} />
      );
    case "reasoning":
      return part.text === "" ? null : (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <Markdown text={part.text} />
        </details>
      );
    case "tool-call":
      return (
        <ToolCallView
          call={part}
          seq={message.seq}
          outcome={message.outcomes?.[part.toolCallId]}
          active={active[part.toolCallId]}
          isOver={isOver || message.interrupted === true || part.providerExecuted === true}
        />
      );
    case "file":
      return <AttachedFile file={part} />;
    default:
      return null;
  }
}
