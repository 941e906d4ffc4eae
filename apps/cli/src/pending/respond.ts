import type { Session } from "@cinch/core";
import type { AnswerToCall } from "./given-answer.ts";

export async function respond(session: Session, given: AnswerToCall): Promise<void> {
  if (given.kind === "approval") await session.respondToToolApproval(given.answer);
  else await session.respondToToolSuspension(given.answer);
}
