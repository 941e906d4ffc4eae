import {
  CinchError,
  type Decision,
  type HarnessDisplayState,
  type PendingApproval,
  type PendingSuspension,
  type Session,
} from "@cinch/core";
import { checkedApproval, checkedSuspension, type CheckedAnswer } from "../routes/answers.ts";
import { checkRole } from "../routes/role.ts";
import type { RouteCall } from "../routes/route.ts";

/** The key of a call in another protocol. That of a subagent's call has its thread. */
export const callKey = (
  { threadId, toolCallId }: { threadId: string; toolCallId: string },
  own: string | null,
): string => (threadId === own ? toolCallId : `${threadId}:${toolCallId}`);

/** The id of a question in another protocol: an answer with it is for no other question. */
export const questionId = (key: string, seq: number): string => `${key}.${seq}`;

type Pending = Pick<HarnessDisplayState, "pendingApprovals" | "pendingSuspensions" | "threadId">;

/** What waits for a person, by the id of the question. */
export function pendingById({ threadId, pendingApprovals, pendingSuspensions }: Pending) {
  const idOf = (one: PendingApproval | PendingSuspension) => questionId(callKey(one, threadId), one.seq);
  const approvals = Object.values(pendingApprovals).map((one) => [idOf(one), { approval: one }] as const);
  const questions = Object.values(pendingSuspensions).map((one) => [idOf(one), { question: one }] as const);
  return new Map<string, { approval?: PendingApproval; question?: PendingSuspension }>([...approvals, ...questions]);
}

interface GivenDecision {
  pending: PendingApproval;
  decision: Decision;
  args?: unknown;
  message?: string;
}

/** The answer to an approval. */
export function checkedDecision(session: Session, call: RouteCall, given: GivenDecision): Promise<CheckedAnswer> {
  checkRole(call.who, "approve");
  const { pending, ...answer } = given;
  const { toolCallId, threadId, digest } = pending;
  const body = { toolCallId, threadId, digest, ...answer };
  return checkedApproval(session, { ...call, body });
}

/** The answer to a question. */
export function checkedData(
  session: Session,
  call: RouteCall,
  { pending, data }: { pending: PendingSuspension; data: unknown },
): Promise<CheckedAnswer> {
  const { toolCallId, threadId, seq } = pending;
  const body = { toolCallId, threadId, seq, resumeData: data };
  return checkedSuspension(session, { ...call, body });
}

/** Gives the answers of a request, or none of them if one may not be given. If another client was first, its answer stands. */
export async function giveAll<T>(given: readonly T[], check: (one: T) => Promise<CheckedAnswer>): Promise<void> {
  const checked: CheckedAnswer[] = [];
  for (const one of given) checked.push(await check(one));
  for (const give of checked) await give().catch(unlessAnswered);
}

function unlessAnswered(error: unknown): void {
  if (error instanceof CinchError && (error.code === "NOT_PENDING" || error.code === "ALREADY_ANSWERED")) return;
  throw error;
}
