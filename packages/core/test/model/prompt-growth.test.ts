import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTranscript, reduceTranscript, toPrompt, type Transcript } from "@cinch/core/journal";
import type { DurableEvent } from "@cinch/core";
import * as fc from "fast-check";
import { BLOB, journals, journalsOf, PROVIDERS } from "../../../testkit/src/journal.ts";

const head = { system: "You are a test.", tools: [] };

/** The prompt block by block, without the tail, which is rebuilt each time. */
async function blocks(transcript: Transcript): Promise<string[]> {
  const prompt = await toPrompt(head, transcript, async () => BLOB);
  const all = prompt.flatMap((message) => {
    if (message.role === "system") return [JSON.stringify(message)];
    return message.content.map((part) => JSON.stringify([message.role, part]));
  });
  return all.filter((block, at) => at < all.length - 1 || !TAIL.test(block));
}

/** What the model is asked to go on with: it is not a part of the conversation. */
const TAIL = /^\["user",\{"type":"text","text":"(Continue\.|<focus>)/;

const SHORTENING: ReadonlySet<string> = new Set(["thread_rewound", "om_activation", "context_summarised"]);

/** The prompts of this journal's model requests. A request is made right before the answer to it. */
async function requestsOf(events: readonly DurableEvent[]): Promise<{ by: string; asked: string[] }[][]> {
  let transcript = emptyTranscript;
  let requests: { by: string; asked: string[] }[] = [];
  const untilCut = [requests];
  for (const event of events) {
    if (event.type === "message_end" && event.message.role === "assistant")
      requests.push({ by: transcript.by, asked: await blocks(transcript) });
    // A rewind and a compaction shorten the prompt on purpose.
    if (SHORTENING.has(event.type)) untilCut.push((requests = []));
    transcript = reduceTranscript(transcript, event);
  }
  return untilCut;
}

function assertGrowth(requests: readonly { by: string; asked: string[] }[]): void {
  for (const [at, { by, asked }] of requests.entries()) {
    const before = requests[at - 1];
    if (before?.by === by) assert.deepEqual(asked.slice(0, before.asked.length), before.asked);
  }
}

for (const provider of PROVIDERS) {
  test(`each request to ${provider} begins with the previous one`, async () => {
    await fc.assert(
      fc.asyncProperty(journalsOf(provider), async (events) => {
        for (const requests of await requestsOf(events)) assertGrowth(requests);
      }),
      { numRuns: 100 },
    );
  });
}

test("prompts only grow from request to request, until the provider changes", async () => {
  await fc.assert(
    fc.asyncProperty(journals, async (events) => {
      for (const requests of await requestsOf(events)) assertGrowth(requests);
    }),
    { numRuns: 100 },
  );
});

test("the generated journals contain several requests, so that prompts can grow", () => {
  const several = fc
    .sample(journals, { numRuns: 200, seed: 1 })
    .map(
      (events) => events.filter((event) => event.type === "message_end" && event.message.role === "assistant").length,
    );
  assert.ok(several.filter((count) => count >= 3).length > 60, `only ${several.filter((count) => count >= 3).length}`);
});

test("calls of a long thread that all have the same id get different ids, in linear time", async () => {
  const where = { v: 1, at: 0, threadId: "t", turnId: "turn" };
  const call = { toolCallId: "call_0", toolName: "read_file" };
  const steps = Array.from({ length: 30_000 }, (_, at): DurableEvent[] => [
    {
      type: "message_end",
      message: { id: `m${at}`, role: "assistant", content: [{ type: "tool-call", ...call, input: {} }] },
      seq: 2 * at + 1,
      ...where,
    },
    { type: "tool_end", ...call, result: { content: "" }, isError: false, durationMs: 0, seq: 2 * at + 2, ...where },
  ]);
  const prompt = await toPrompt(head, steps.flat().reduce(reduceTranscript, emptyTranscript), async () => BLOB);
  const ids = prompt.flatMap(({ role, content }) =>
    role === "assistant" ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])) : [],
  );
  assert.equal(new Set(ids).size, 30_000);
  assert.deepEqual([ids[0], ids[1], ids[29_999]], ["call_0", "call_0_2", "call_0_30000"]);
});
