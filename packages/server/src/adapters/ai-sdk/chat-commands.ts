import type { Session } from "@cinch/core";
import { checkRole } from "../../routes/role.ts";
import type { RouteCall } from "../../routes/route.ts";
import { giveData, giveDecision } from "../given-answers.ts";
import { newestEvent } from "../turn-events.ts";
import { answersIn, inputOf, turnMessage, type ChatAnswer, type ChatBody } from "./chat-body.ts";

/** Gives the answers of a body. One that another client gave first stands. */
export async function answerAll(session: Session, call: RouteCall): Promise<void> {
  const display = session.getDisplayState();
  const message = display.turnId === null ? undefined : turnMessage(call.body as ChatBody, display.turnId);
  const answers = message ? answersIn(message, display) : [];
  for (const answer of answers) await answerOne(session, call, answer);
}

function answerOne(session: Session, call: RouteCall, answer: ChatAnswer): Promise<void> {
  if (answer.kind === "question") return giveData(session, call, { pending: answer.pending, data: answer.output });
  const { approved, reason, pending } = answer;
  const decision = approved ? "approve" : "decline";
  const message = reason === undefined ? {} : { message: reason };
  return giveDecision(session, call, { pending, decision, ...message });
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
