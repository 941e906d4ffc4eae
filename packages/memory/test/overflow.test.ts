import assert from "node:assert/strict";
import { test } from "node:test";
import type { HarnessEvent } from "@cinch/core";
import { fail, type Step } from "@cinch/testkit";
import { observationalMemory, summaries } from "@cinch/memory";
import { answer, isSummariser, sharedPrefixes, simulated, stepsOf, tokensOf, worker } from "./simulation.ts";

type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;
const ofType = <T extends HarnessEvent["type"]>(seen: readonly HarnessEvent[], type: T): Of<T>[] =>
  seen.filter((event): event is Of<T> => event.type === type);

const tooLong = fail(
  Object.assign(new Error("prompt is too long: 210000 tokens > 200000 maximum"), { statusCode: 400 }),
);
const memories = { summaries: () => summaries(), observations: () => observationalMemory() };

for (const [name, memory] of Object.entries(memories))
  test(`with ${name}, a message that is larger than the window leaves the prompt when the next one is sent`, async () => {
    // The window is known, or it is not, and the message alone fits into what is assumed.
    for (const [contextWindow, window, chars] of [
      [8_000, 8_000, 60_000],
      [128_000, 6_000, 24_000],
    ] as const) {
      const model = worker(0, {
        agent: ({ prompt }) => (tokensOf(prompt) > window ? tooLong : answer("Hello.")),
      });
      await using simulation = await simulated(model, { memory: memory(), contextWindow });
      const { harness } = simulation;
      await harness.sendMessage({ content: "Hi there." });
      const { error } = await harness.sendMessage({ content: `A paste: ${"x ".repeat(chars / 2)}` });
      assert.equal(error?.code, "CONTEXT_OVERFLOW");
      for (const content of ["Forget that.", "And now?"])
        assert.equal((await harness.sendMessage({ content })).reason, "complete", `${contextWindow}: ${content}`);
      assert.deepEqual(sharedPrefixes(stepsOf(model).slice(-2)), [1]);
      const last = JSON.stringify(stepsOf(model).at(-1)!.prompt);
      assert.doesNotMatch(last, /A paste: x x x x x x x x x x/);
      assert.match(last, /Forget that\..*And now\?/);
    }
  });

const book = [{ filename: "book.pdf", mediaType: "application/pdf", data: new Uint8Array(1_000) }];
const hasFile = (prompt: unknown): boolean => JSON.stringify(prompt).includes('"type":"file"');

test("a file that the provider refuses leaves the prompt when the next message is sent", async () => {
  for (const memory of [summaries(), observationalMemory()]) {
    const model = worker(0, { agent: ({ prompt }) => (hasFile(prompt) ? tooLong : answer("Hello.")) });
    await using simulation = await simulated(model, { memory });
    const { harness } = simulation;
    await harness.sendMessage({ content: "Answer in German." });
    assert.equal((await harness.sendMessage({ content: "Read this.", files: book })).error?.code, "CONTEXT_OVERFLOW");
    assert.equal((await harness.sendMessage({ content: "Forget it." })).reason, "complete");
    assert.match(JSON.stringify(stepsOf(model).at(-1)!.prompt), /Answer in German\..*Forget it\./);
  }
});

test("after an overflow no file is kept with the newest messages of the user: its size is not known", async () => {
  for (const memory of [summaries(), observationalMemory()]) {
    const model = worker(0, {
      agent: ({ prompt }) => (hasFile(prompt) && tokensOf(prompt) > 8_000 ? tooLong : answer("Hello.")),
    });
    await using simulation = await simulated(model, { memory });
    const { harness, seen } = simulation;
    await harness.sendMessage({ content: "Answer in German." });
    assert.equal((await harness.sendMessage({ content: "Read this.", files: book })).reason, "complete");
    assert.equal((await harness.sendMessage({ content: "x ".repeat(20_000) })).reason, "complete");
    assert.deepEqual(
      ofType(seen, "context_summarised").map(({ reason }) => reason),
      ["overflow"],
    );
    assert.match(JSON.stringify(stepsOf(model).at(-1)!.prompt), /Answer in German\./);
  }
});

/** A model with a window that nothing knows: it refuses every longer request. */
const withWindow = (window: number, steps: number) => {
  const within = (step: Step) => (options: { prompt: Parameters<typeof tokensOf>[0] }) =>
    tokensOf(options.prompt) > window ? tooLong : step;
  return worker(steps, {
    agent: ({ prompt }) => (tokensOf(prompt) > window ? tooLong : undefined),
    summariser: within(answer("Goal: look. ".repeat(30))),
    observer: within(answer("- Looked.\nCurrent task: look\nNext: look on")),
  });
};

test("with a window that is not known, each overflow leaves a summary, made of a request that fits", async () => {
  for (const memory of [summaries(), observationalMemory()]) {
    const model = withWindow(8_000, 70);
    await using simulation = await simulated(model, { memory });
    const { harness, seen } = simulation;
    assert.equal((await harness.sendMessage({ content: "Look at all files." })).reason, "complete");
    const cuts = seen.filter(({ type }) => type === "context_summarised" || type === "om_activation");
    assert.ok(cuts.length > 1);
    assert.ok(
      ofType(seen, "context_summarised").every(({ blob, reason }) => blob !== undefined && reason === "overflow"),
    );
    const asked = model.requests.filter(isSummariser).map(({ prompt }) => tokensOf(prompt));
    assert.equal(asked.length, ofType(seen, "context_summarised").length);
    assert.ok(Math.max(...asked) <= 5_000, asked.join());
  }
});

test("a request for a summary that its model refuses as too long is made again of less, four times at most", async () => {
  for (const memory of [summaries(), observationalMemory()])
    for (const [window, times] of [
      [3_000, 2],
      [0, 5],
    ] as const) {
      const model = worker(20, {
        summariser: ({ prompt }) => (tokensOf(prompt) > window ? tooLong : answer("Goal: look.")),
      });
      await using simulation = await simulated(model, { memory });
      const { harness } = simulation;
      await harness.sendMessage({ content: "Look." });
      if (window > 0) assert.ok((await harness.compact()).range);
      else await assert.rejects(harness.compact(), { code: "CONTEXT_OVERFLOW" });
      const asked = model.requests.filter(isSummariser).map(({ prompt }) => tokensOf(prompt));
      assert.equal(asked.length, times, asked.join());
      assert.ok(asked[1]! < asked[0]! * 0.6, asked.join());
    }
});

test("compact() covers messages that no model has answered", async () => {
  const model = worker(0, { agent: ({ prompt }) => (prompt.length < 4 ? fail(new Error("no")) : answer("Hello.")) });
  await using simulation = await simulated(model, { memory: summaries() });
  const { harness } = simulation;
  for (const content of [`First. ${"x ".repeat(20_000)}`, "Second."]) await harness.sendMessage({ content });
  const { range, tokensBefore, tokensAfter } = await harness.compact();
  assert.equal(range?.[0], 1);
  assert.ok(tokensAfter < tokensBefore / 2, `${tokensBefore} to ${tokensAfter}`);
});
