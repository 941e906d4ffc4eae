import { CinchError } from "./errors.ts";
import type { Thread } from "./thread.ts";
import { asJson } from "./turn/call.ts";

export interface SuspensionAnswer {
  /** Without it the oldest suspended call is meant. */
  toolCallId?: string;
  threadId?: string;
  resumeData: unknown;
  /** Who answered. */
  by?: string;
}

/** Gives a suspended call what it waits for. The first answer stands. */
export async function answerSuspension(
  thread: Thread,
  { toolCallId, resumeData, by }: SuspensionAnswer,
): Promise<void> {
  const before = toolCallId === undefined ? false : await wasAnswered(thread, toolCallId);
  await thread.command(({ turn }) => {
    const calls = turn?.calls.filter((call) => toolCallId === undefined || call.toolCallId === toolCallId) ?? [];
    const call = calls.find(({ state }) => state === "suspended");
    if (!turn || !call) throw notPending(toolCallId, before || calls.some(({ answered }) => answered));
    const { turnId } = turn;
    const who = by === undefined ? {} : { by };
    const { toolName } = call;
    return [
      { type: "tool_resumed", turnId, toolCallId: call.toolCallId, toolName, resumeData: asJson(resumeData), ...who },
    ];
  });
}

async function wasAnswered(thread: Thread, toolCallId: string): Promise<boolean> {
  const recent = await thread.read({ limit: 1_000, last: true });
  return recent.some((event) => event.type === "tool_resumed" && event.toolCallId === toolCallId);
}

function notPending(toolCallId: string | undefined, answered: boolean): CinchError {
  const which = toolCallId === undefined ? "No call" : `Call "${toolCallId}"`;
  if (answered) return new CinchError("ALREADY_ANSWERED", `${which} was answered already. The first answer stands.`);
  const next = "pendingSuspensions of the display state shows what waits.";
  if (toolCallId === undefined) return new CinchError("NOT_PENDING", `No call waits for an answer. ${next}`);
  return new CinchError("NOT_PENDING", `${which} does not wait for an answer. ${next}`);
}
