import {
  CinchError,
  type Decision,
  type HarnessDisplayState,
  type PendingApproval,
  type PendingSuspension,
  type Session,
} from "@cinch/core";
import { checkedApproval, checkedSuspension } from "../routes/answers.ts";
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

/** Answers an approval. If another client was first, its answer stands. */
export async function giveDecision(session: Session, call: RouteCall, given: GivenDecision): Promise<void> {
  checkRole(call.who, "approve");
  const { pending, ...answer } = given;
  const { toolCallId, threadId, digest } = pending;
  const body = { toolCallId, threadId, digest, ...answer };
  await checkedApproval(session, { ...call, body }).catch(unlessAnswered);
}

/** Answers a question. If another client was first, its answer stands. */
export async function giveData(
  session: Session,
  call: RouteCall,
  { pending, data }: { pending: PendingSuspension; data: unknown },
): Promise<void> {
  const { toolCallId, threadId, seq } = pending;
  const body = { toolCallId, threadId, seq, resumeData: data };
  await checkedSuspension(session, { ...call, body }).catch(unlessAnswered);
}

function unlessAnswered(error: unknown): void {
  if (error instanceof CinchError && (error.code === "NOT_PENDING" || error.code === "ALREADY_ANSWERED")) return;
  throw error;
}
