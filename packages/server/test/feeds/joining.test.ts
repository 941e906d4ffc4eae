import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, newDisplayState, reduceDisplay, type HarnessEvent } from "@cinch/core";
import { script, type Step } from "@cinch/testkit";
import { Feed } from "../../src/feeds/feed.ts";
import { addMerged } from "../../src/feeds/frames.ts";
import type { Watcher } from "../../src/feeds/watcher.ts";

/** Streams a delta for each call of `say`, until `end`. */
function dictated() {
  const lines: string[] = [];
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const step: Step = async function* () {
    yield { type: "text-start", id: "t" };
    for (;;) {
      const delta = lines.shift();
      if (delta !== undefined) yield { type: "text-delta", id: "t", delta };
      else if (isOver) break;
      else await wake.promise;
    }
    yield { type: "text-end", id: "t" };
    yield {
      type: "finish",
      finishReason: { unified: "stop", raw: "stop" },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    };
  };
  const poke = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const say = (line: string) => {
    lines.push(line);
    poke();
  };
  const end = () => {
    isOver = true;
    poke();
  };
  return { step, say, end };
}

/** What a client shows that has read this stream until its text contains `until`. */
async function shownBy({ stream }: Watcher, until: string): Promise<string> {
  let display = newDisplayState(null);
  let all = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    all += decoder.decode(bytes, { stream: true });
    const blocks = all.split("\n\n");
    all = blocks.pop()!;
    for (const block of blocks.filter((one) => one.includes("data: ")))
      display = reduceDisplay(display, JSON.parse(block.slice(block.indexOf("data: ") + 6)) as HarnessEvent);
    const [part] = display.currentMessage?.content ?? [];
    const text = part?.type === "text" ? part.text : "";
    if (text.includes(until)) return text;
  }
  return "";
}

test("watchers that join between two deltas of a collected frame get each delta once", async () => {
  const { step, say, end } = dictated();
  const agent = new Agent({ name: "tester", model: script(step), instructions: "Test." });
  const harness = new Harness({ id: "test", agent, storage: memoryStore() });
  const session = await harness.createSession();
  const { id } = await session.createThread();
  const own = await harness.createSession({ threadId: id });
  const feed = new Feed(own);
  const turn = session.sendMessage({ content: "go" });
  const shown: Promise<string>[] = [];
  let expected = "";
  const unsubscribe = session.subscribe((event) => event.type === "message_update" && reached.resolve());
  let reached = Promise.withResolvers<void>();
  for (let n = 0; n < 12; n++) {
    reached = Promise.withResolvers();
    say(`delta ${n}. `);
    expected += `delta ${n}. `;
    await reached.promise;
    // The delta is collected now, and not sent yet.
    const since = n % 2 === 0 ? undefined : session.getDisplayState().seq;
    const watcher = await feed.watch({ since, left: () => undefined });
    shown.push(shownBy(watcher, "the end"));
  }
  say("the end");
  for (const text of await Promise.all(shown)) assert.equal(text, `${expected}the end`);
  unsubscribe();
  end();
  await turn;
  await feed.close();
  await harness.close();
});

test("a watcher that joins when the thread has just been deleted gets a stream that ends", async () => {
  const agent = new Agent({ name: "tester", model: script(), instructions: "Test." });
  const harness = new Harness({ id: "test", agent, storage: memoryStore() });
  const session = await harness.createSession();
  const { id } = await session.createThread();
  const feed = new Feed(await harness.createSession({ threadId: id }));
  const first = await feed.watch({ since: undefined, left: () => undefined });
  await session.deleteThread({ threadId: id });
  assert.equal(await shownBy(first, "never"), "");
  for (const since of [undefined, 0, 1, 7]) {
    const watcher = await feed.watch({ since, left: () => undefined });
    assert.equal(await shownBy(watcher, "never"), "");
  }
  await feed.close();
  await harness.close();
});

test("deltas are merged only with deltas of the same text", () => {
  const of = { threadId: "t", at: 1, role: "assistant" as const };
  const update = (messageId: string, index: number, part: "text" | "reasoning", delta: string) =>
    ({ type: "message_update", messageId, index, part, delta, ...of }) as unknown as HarnessEvent;
  const output = (toolCallId: string, stream: "stdout" | "stderr", text: string): HarnessEvent => ({
    type: "shell_output",
    toolCallId,
    toolName: "x",
    output: text,
    stream,
    threadId: "t",
    at: 1,
  });
  const events: HarnessEvent[] = [];
  const added = [
    update("a", 0, "text", "1"),
    update("a", 0, "text", "2"),
    update("a", 1, "text", "3"),
    update("b", 1, "text", "4"),
    update("b", 1, "reasoning", "5"),
    output("c", "stdout", "6"),
    output("c", "stdout", "7"),
    output("c", "stderr", "8"),
    output("d", "stderr", "9"),
  ];
  for (const event of added) addMerged(events, event);
  const texts = events.map((event) =>
    event.type === "message_update" ? event.delta : (event as { output: string }).output,
  );
  assert.deepEqual(texts, ["12", "3", "4", "5", "67", "8", "9"]);
});
