import type { Session } from "@cinch/core";
import { checkRole } from "../../routes/role.ts";
import type { CheckedAnswer } from "../../routes/answers.ts";
import type { RouteCall } from "../../routes/route.ts";
import { checkedData, checkedDecision, giveAll } from "../given-answers.ts";
import { newestEvent } from "../turn-events.ts";
import { answersIn, inputOf, turnMessage, type ChatAnswer, type ChatBody } from "./chat-body.ts";

/** Gives the answers of a body. */
export async function answerAll(session: Session, call: RouteCall): Promise<void> {
  const display = session.getDisplayState();
  const message = display.turnId === null ? undefined : turnMessage(call.body as ChatBody, display.turnId);
  const answers = message ? answersIn(message, display) : [];
  await giveAll(answers, (answer) => checkedAnswer(session, call, answer));
}

function checkedAnswer(session: Session, call: RouteCall, answer: ChatAnswer): Promise<CheckedAnswer> {
  if (answer.kind === "question") return checkedData(session, call, { pending: answer.pending, data: answer.output });
  const { approved, reason, pending } = answer;
  const decision = approved ? "approve" : "decline";
  const message = reason === undefined ? {} : { message: reason };
  return checkedDecision(session, call, { pending, decision, ...message });
}

/** Accepts the message that the body ends with. Returns its id. */
export async function acceptInput(session: Session, call: RouteCall): Promise<string | undefined> {
  const body = call.body as ChatBody;
  const input = inputOf(body);
  if (!input) return undefined;
  const isEdited = body.trigger !== "regenerate-message" && body.messageId === input.id;
  if (isEdited || body.trigger === "regenerate-message") await rewindTo(session, call, input.id);
  await session.post({ ...input, delivery: "send" });
  return input.id;
}

/** Reverts the conversation to before an input, so that it can be sent again. Files stay as they are. */
async function rewindTo(session: Session, { who }: RouteCall, inputId: string): Promise<void> {
  checkRole(who, "manage");
  const accepted = await newestEvent(
    session,
    (event) => event.type === "input_accepted" && event.inputId === inputId && !event.retry,
  );
  if (accepted) await session.rewind({ toSeq: accepted.seq - 1 });
}
