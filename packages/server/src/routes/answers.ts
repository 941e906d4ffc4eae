import type { ApprovalAnswer, PendingApproval, PendingSuspension, Session, SuspensionAnswer } from "@cinch/core";
import { HttpError } from "../http/http-error.ts";
import { checkRole } from "./role.ts";
import type { RouteCall } from "./route.ts";

type Pending = PendingApproval | PendingSuspension;
type Target = { toolCallId?: string | undefined; threadId?: string | undefined };
/** An answer with this succeeds if it is the recorded one, and otherwise learns why nothing waits. It answers nothing. */
const ONLY_COMPARED = { repeat: true };

/** An answer that its caller may give. It is given when this is called, so that a request with several gives all of them or none. */
export type CheckedAnswer = () => Promise<void>;

/** The handler of a route that gives one answer. */
export const givenAtOnce =
  (check: (session: Session, call: RouteCall) => Promise<CheckedAnswer>) =>
  async (session: Session, call: RouteCall): Promise<void> =>
    (await check(session, call))();

/**
 * The answer to an approval. If `mayAnswer` decides, the answer is bound to the approval that it saw: a call that asks only afterwards is not
 * answered.
 */
export async function checkedApproval(session: Session, { body, who, parts }: RouteCall): Promise<CheckedAnswer> {
  const answer = body as ApprovalAnswer;
  const { mayAnswer, harness } = parts;
  if (answer.decision.startsWith("always_")) checkRole(who, "manage");
  if (!mayAnswer) return () => session.respondToToolApproval(answer);
  const { resourceId } = session;
  // The store knows of calls that another process drives before the display does.
  const stored = async () =>
    (await harness.pending({ resourceId })).filter(
      (call) => call.kind === "approval" && call.rootThreadId === session.getCurrentThreadId(),
    ) as PendingApproval[];
  const shown = Object.values(session.getDisplayState().pendingApprovals);
  const approval = oldestOf(shown, answer) ?? oldestOf(await stored(), answer);
  if (approval && !(await mayAnswer({ approval, who })))
    throw new HttpError(403, "PERMISSION_DENIED", "This caller may not answer this approval. It still waits.");
  const { digest = approval?.digest } = answer;
  const bound =
    approval && digest === approval.digest
      ? { ...answer, ...addressOf(approval), digest }
      : { ...answer, ...ONLY_COMPARED };
  return () => session.respondToToolApproval(bound);
}

/**
 * The answer to a question, or to a plan: that needs the role to approve. An approved plan leads to no other mode than the one that the program has
 * chosen for it.
 */
export async function checkedSuspension(session: Session, { body, who }: RouteCall): Promise<CheckedAnswer> {
  const answer = body as SuspensionAnswer;
  if (who.may.includes("approve") && who.may.includes("talk")) return () => session.respondToToolSuspension(answer);
  const question = oldestOf(Object.values(session.getDisplayState().pendingSuspensions), answer);
  if (question) checkRole(who, question.toolName === "submit_plan" ? "approve" : "talk");
  const { seq = question?.seq } = answer;
  const bound =
    question && seq === question.seq ? { ...answer, ...addressOf(question), seq } : { ...answer, ...ONLY_COMPARED };
  return () => session.respondToToolSuspension(bound);
}

/** The call that an answer is for: the oldest, if it names none. */
function oldestOf<T extends Pending>(pending: readonly T[], { toolCallId, threadId }: Target): T | undefined {
  const matches = (one: T) =>
    (toolCallId === undefined || one.toolCallId === toolCallId) &&
    (threadId === undefined || one.threadId === threadId);
  return pending.filter(matches).toSorted((a, b) => a.at - b.at || a.seq - b.seq)[0];
}

const addressOf = ({ toolCallId, threadId }: Pending) => ({ toolCallId, threadId });
