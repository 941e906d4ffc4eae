import { CinchError, type ErrorCode } from "../errors.ts";
import type { SeqRange } from "../events/context-events.ts";
import type { DurableEvent } from "../events/event-map.ts";
import { estimateOf } from "../folds/context.ts";
import type { Again, SignedThread } from "../thread/signed-thread.ts";
import type { Thread } from "../thread/thread.ts";
import { refuseUndriven } from "./refuse-undriven.ts";

export interface Compacted {
  /** What left the prompt. `null`: there was nothing to leave out. */
  range: SeqRange | null;
  /** Estimates for the whole prompt. */
  tokensBefore: number;
  tokensAfter: number;
}

export interface Compaction {
  compacted: Promise<Compacted>;
}

/** Asks the driver to compact the prompt. The result settles when that is done. */
export async function requestCompaction(
  signed: SignedThread,
  { instructions }: { instructions?: string | undefined },
): Promise<Compaction> {
  const { thread } = signed;
  if (!thread.ports.memory)
    throw new CinchError(
      "INVALID_CONFIG",
      "compact() needs a memory, and this harness has none. Give it one, such as summaries() of @cinch/memory.",
    );
  const tokensBefore = tokensOfPrompt(thread);
  const seq = await signed.command((state) => {
    refuseUndriven(thread.ports.modes, state.control);
    return {
      events: [{ type: "compaction_requested", ...(instructions ? { instructions } : {}) }],
      result: state.seq + 1,
      answer: tokensBefore,
    };
  });
  return { compacted: compactionAt(thread, { seq: seq!, tokensBefore }) };
}

/** The result of a compaction that was requested before. */
export const compactedBefore: Again<Compaction> = async (thread, { seq, answer }) => {
  const { context, control } = thread.state;
  if (context.requested !== null) refuseUndriven(thread.ports.modes, control);
  return { compacted: compactionAt(thread, { seq, tokensBefore: answer as number }) };
};

async function compactionAt(
  thread: Thread,
  { seq, tokensBefore }: { seq: number; tokensBefore: number },
): Promise<Compacted> {
  const range = await compactedAfter(thread, seq);
  return { range, tokensBefore, tokensAfter: tokensOfPrompt(thread) };
}

async function compactedAfter(thread: Thread, seq: number): Promise<SeqRange | null> {
  await thread.reach(({ context, parked }) => context.requested === null || parked);
  for (let after = seq; after < thread.state.seq;) {
    const events = await thread.read({ after, limit: 500 });
    const done = events.find(isAnswer);
    if (done?.failed) throw new CinchError(done.failed.code as ErrorCode, done.failed.message);
    if (done) return done.range ?? null;
    after = events.at(-1)?.seq ?? Infinity;
  }
  if (thread.isDeleted)
    throw new CinchError("THREAD_NOT_FOUND", `The thread "${thread.id}" was deleted before its prompt was compacted.`);
  if (thread.state.parked)
    throw new CinchError("INVALID_INPUT", "The thread is parked. Resume it first, then compact its prompt.");
  throw new CinchError(
    "INVALID_INPUT",
    "The thread was aborted or rewound before its prompt was compacted. Call compact() again.",
  );
}

const isAnswer = (event: DurableEvent): event is DurableEvent<"context_summarised"> =>
  event.type === "context_summarised" && event.reason === "requested";

const tokensOfPrompt = ({ state: { context } }: Thread): number => Math.ceil(estimateOf(context) * context.ratio);
