import assert from "node:assert/strict";
import { test } from "node:test";
import type { DurableEvent, HarnessEvent } from "@cinch/core";
import { journals } from "../../../../testkit/src/journal.ts";
import * as fc from "fast-check";
import { foldChunks } from "../../../src/adapters/ai-sdk/chunk-fold.ts";
import { newChunkState, type ChunkState } from "../../../src/adapters/ai-sdk/chunk-state.ts";
import type { SdkVersion, UiChunk } from "../../../src/adapters/ai-sdk/ui-chunk.ts";
import { uiMessagesOf } from "../../../src/adapters/ai-sdk/ui-message.ts";
import { CLIENTS, type AnyMessage } from "./chat-client.ts";

for (const { version, chunkSchema, readMessages } of CLIENTS) {
  test(`ai ${version} reads the chunks of any journal, and the stored messages are what it makes of them`, async () => {
    const read = async (chunks: readonly UiChunk[]): Promise<AnyMessage | undefined> => {
      let message: AnyMessage | undefined;
      const stream = new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk);
          controller.close();
        },
      });
      for await (const next of readMessages({ stream, terminateOnError: true }))
        message = next as unknown as AnyMessage;
      return message;
    };
    const schema = await chunkSchema();
    await fc.assert(
      fc.asyncProperty(journals, async (journal) => {
        const stored = uiMessagesOf(journal, { version, threadId: "thread" }).filter(
          ({ role }) => role === "assistant",
        );
        const shown: unknown[] = [];
        for (const chunks of turnsOf(journal, version)) {
          for (const chunk of chunks) {
            const result = await schema.validate!(chunk);
            assert.ok(result.success, `${JSON.stringify(chunk)} is not a chunk of ai ${version}`);
          }
          // A client shows a step with the next chunk that it writes.
          const last = { type: "data-last", data: null } as const;
          const message = await read([...chunks.filter(({ type }) => type !== "error"), last]);
          message?.parts.pop();
          if (message?.parts.some(({ type }) => type !== "data-status")) shown.push(plain(message));
        }
        assert.deepEqual(stored.map(plain), shown);
      }),
      { numRuns: 200 },
    );
  });
}

/** The chunks of each turn, in order. */
function turnsOf(journal: readonly DurableEvent[], version: SdkVersion): UiChunk[][] {
  const turns = new Map<string, { state: ChunkState; chunks: UiChunk[] }>();
  for (const event of journal) {
    const { turnId } = event;
    if (turnId === undefined) continue;
    const turn = turns.get(turnId) ?? { state: newChunkState({ turnId, version, threadId: "thread" }), chunks: [] };
    turns.set(turnId, turn);
    const [state, chunks] = foldChunks(turn.state, event as HarnessEvent);
    turn.state = state;
    turn.chunks.push(...chunks);
  }
  return Array.from(turns.values(), ({ chunks }) => chunks);
}

/** Without the fields that only a client sets. */
const plain = ({ role, parts, metadata }: Pick<AnyMessage, "role" | "parts" | "metadata">): unknown =>
  JSON.parse(
    JSON.stringify({ role, parts, metadata }, (key, value: unknown) => (key === "rawInput" ? undefined : value)),
  );
