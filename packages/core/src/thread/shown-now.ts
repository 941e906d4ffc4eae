import type { HarnessEvent } from "../events/event-map.ts";
import type { Thread } from "./thread.ts";

/** Live events that bring a reader that has the journal up to date with the answer that is streaming and the tools that run. */
export function shownNow(thread: Thread, at: number): HarnessEvent[] {
  const { currentMessage, toolInputBuffers, activeTools, omProgress } = thread.display;
  const turnId = thread.state.turn?.turnId;
  const stamp = { threadId: thread.id, at, ...(turnId === undefined ? {} : { turnId }) };
  const inputs = Object.entries(toolInputBuffers).flatMap(([toolCallId, { toolName, text }]): HarnessEvent[] => [
    { type: "tool_input_start", toolCallId, toolName, ...stamp },
    { type: "tool_input_delta", toolCallId, toolName, argsTextDelta: text, ...stamp },
  ]);
  const filled: HarnessEvent[] = omProgress ? [{ type: "om_status", ...omProgress, ...stamp }] : [];
  const updates = Object.values(activeTools).flatMap(({ toolCallId, toolName, partialResult, output }) => {
    const of = { toolCallId, toolName, ...stamp };
    return [
      ...(partialResult === null ? [] : [{ type: "tool_update", ...of, partialResult } as const]),
      ...(output === "" ? [] : [{ type: "shell_output", ...of, output, stream: "stdout" } as const]),
    ];
  });
  if (!currentMessage) return [...filled, ...inputs, ...updates];
  const { id: messageId, role } = currentMessage;
  const texts = currentMessage.content.flatMap((part, index): HarnessEvent[] => {
    if (part.type !== "text" && part.type !== "reasoning") return [];
    const update = {
      type: "message_update" as const,
      messageId,
      role,
      index,
      part: part.type,
      delta: part.text,
      ...stamp,
    };
    return [Object.defineProperty(update, "message", { value: currentMessage, enumerable: false }) as HarnessEvent];
  });
  return [...filled, { type: "message_start", messageId, role, ...stamp }, ...texts, ...inputs, ...updates];
}
