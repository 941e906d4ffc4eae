import type { Session } from "@cinch/core";
import type { TurnWatch } from "../run/turn-watch.ts";
import { answerTo, type GivenAnswer } from "./given-answer.ts";
import type { Waiting } from "./waiting.ts";

interface Response {
  session: Session;
  watch: TurnWatch;
  waiting: Waiting;
  given: GivenAnswer;
}

/** Answers a call, and lets the watch wait for what its turn does then. Throws `UsageError` if the call does not take this answer. */
export async function respond({ session, watch, waiting, given }: Response): Promise<void> {
  const response = answerTo(waiting, given);
  watch.untilIdle({ answered: waiting });
  if (response.kind === "approval") await session.respondToToolApproval(response.answer);
  else await session.respondToToolSuspension(response.answer);
}
