import type { Store } from "@cinch/core";
import { lift, newThreadState, reduceThread } from "@cinch/core/journal";

const CHUNK = 500;

/** A text that stands in the prompt for older messages. */
export interface ShownBlock {
  kind: "observation" | "reflection" | "summary" | "left_out";
  tokens: number;
  at: number;
  text: string;
}

/** The texts that stand in the prompt of a thread, oldest first, and how many wait to stand there. */
export async function blockTexts(store: Store, threadId: string): Promise<{ blocks: ShownBlock[]; buffered: number }> {
  const { blocks, buffered } = await memoryOf(store, threadId);
  const texts = blocks.map(async ({ kind, tokens, at, blob }) => {
    const bytes = blob === null ? undefined : await store.blob(blob);
    return { kind, tokens, at, text: bytes ? new TextDecoder().decode(bytes) : "" };
  });
  return { blocks: await Promise.all(texts), buffered: buffered.length };
}

async function memoryOf(store: Store, threadId: string) {
  let state = newThreadState;
  for (let after = 0; ;) {
    const events = await store.read(threadId, { after, limit: CHUNK });
    for (const event of events) state = reduceThread(state, lift(event));
    if (events.length < CHUNK) return state.context.memory;
    after = events.at(-1)!.seq;
  }
}
