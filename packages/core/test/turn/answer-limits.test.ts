import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf, type HarnessEvent } from "@cinch/core";
import {
  call,
  finish,
  parts,
  say,
  script,
  validateAnthropic,
  validateGemini,
  validateOpenAIChat,
  validateOpenAIResponses,
  type ScriptedModel,
  type Step,
} from "@cinch/testkit";
import { harness, noting } from "../support.ts";

const MB = 1_000_000;

const validators = [validateAnthropic, validateGemini, validateOpenAIChat, validateOpenAIResponses];
const problemsOf = ({ requests }: ScriptedModel) =>
  requests.flatMap(({ prompt }) => validators.flatMap((validate) => validate(prompt)));

const calls = (count: number): Step =>
  call(...Array.from({ length: count }, (_, n): [string, object, string] => ["note", { what: `${n}` }, `call_${n}`]));

const results = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) => (event.type === "tool_end" ? [String(event.result.content)] : []));

test("128 calls of one answer are run", async () => {
  const { note, runs } = noting();
  await using h = await harness({ model: script(calls(128), say("done")), tools: { note } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.equal(runs.length, 128);
});

test("of more calls none is run, the results say why and how many there were, and the turn continues", async () => {
  for (const count of [129, 1_000]) {
    const { note, runs } = noting();
    const model = script(calls(count), call("note", { what: "one" }), say("done"));
    await using h = await harness({ model, tools: { note } });
    const { reason, message } = await h.sendMessage({ content: "go" });
    assert.deepEqual([reason, textOf(message!.content)], ["complete", "done"]);
    assert.deepEqual(
      runs.map((run) => (run as { what: string }).what),
      ["one"],
    );
    const refused = results(h.seen).slice(0, -1);
    assert.equal(refused.length, 128);
    for (const content of refused)
      assert.match(content, new RegExp(`^Not run: the answer had ${count} calls, and one answer may have 128`));
    assert.deepEqual(problemsOf(model), []);
  }
});

const large = (megabytes: number): Step =>
  function* () {
    yield { type: "text-start", id: "t" };
    for (let n = 0; n < megabytes; n++) yield { type: "text-delta", id: "t", delta: "x".repeat(MB) };
    yield { type: "text-end", id: "t" };
    yield finish("stop");
  };

test("an answer of more than 32 MB is truncated, a note tells the model, and the turn continues", async () => {
  const model = script(large(40), say("Shorter."));
  await using h = await harness({ model });
  const { reason, message } = await h.sendMessage({ content: "go" });
  assert.deepEqual([reason, textOf(message!.content)], ["complete", "Shorter."]);
  const said = h.getDisplayState().messages.map(({ role, content }) => [role, textOf(content)] as const);
  assert.deepEqual(
    said.map(([role]) => role),
    ["user", "assistant", "note", "assistant"],
  );
  assert.ok(said[1]![1].length < 110_000);
  assert.match(said[2]![1], /^Not accepted: the answer was larger than 32 MB/);
  assert.deepEqual(problemsOf(model), []);
});

test("an answer of very many parts is not read to its end, a note tells the model, and the turn continues", async () => {
  let read = 0;
  const step: Step = function* () {
    yield { type: "text-delta", id: "t", delta: "Look:" };
    for (; read < 100_000; read++) yield { type: "source", sourceType: "url", id: "s", url: "https://example.org" };
    yield finish("stop");
  };
  const model = script(step, say("Shorter."));
  await using h = await harness({ model });
  const { reason, message } = await h.sendMessage({ content: "go" });
  assert.deepEqual([reason, textOf(message!.content)], ["complete", "Shorter."]);
  assert.ok(read < 5_000, `${read} parts were read`);
  const said = h.getDisplayState().messages.map(({ content }) => textOf(content));
  assert.match(said[1]!, /^Look:\n\n\[The rest of this answer was too large/);
  assert.match(said[2]!, /^Not accepted: the answer had more than 4000 parts/);
  assert.deepEqual(problemsOf(model), []);
});

test("an answer that was too large counts against a budget, although the provider could not report its usage", async () => {
  for (const [budget, detail] of [
    [{ tokens: 1_000_000 }, / of 1000000 tokens for a turn$/],
    [{ cost: 50 }, / of 50 dollars for a turn$/],
  ] as const) {
    const model = script(large(40), large(40), say("Never said."));
    await using h = await harness({ model, budget, prices: { script: { input: 1, output: 10 } } });
    const result = await h.sendMessage({ content: "go" });
    assert.equal(result.reason, "budget");
    assert.match(result.detail!, detail);
    assert.equal(model.requests.length, 1);
    const { outputTokens } = h.getTokenUsage();
    assert.ok(outputTokens > 8_000_000 && outputTokens < 8_300_000, `a token for four characters: ${outputTokens}`);
  }
});

test("of files in an answer that was too large, the estimate counts each as an image, not its bytes", async () => {
  const file = { type: "file", mediaType: "image/png", data: { type: "data", data: Buffer.alloc(MB) } } as const;
  const files = Array.from({ length: 40 }, () => file);
  await using h = await harness({ model: script(parts(...files), say("Sorry.")) });
  await h.sendMessage({ content: "go" });
  const { outputTokens } = h.getTokenUsage();
  assert.ok(outputTokens > 30 * 1_600 && outputTokens < 40 * 1_600, String(outputTokens));
});

/** An endless answer that counts how many parts of 1 MB are read. It ends only so that a failing test does not hang. */
function endless(part: (text: string) => ReturnType<typeof finish>) {
  const read = { parts: 0 };
  const step: Step = function* () {
    yield { type: "tool-input-start", id: "a", toolName: "note" };
    while (read.parts < 100) {
      read.parts++;
      yield part("x".repeat(MB));
    }
    yield finish("stop");
  };
  return { read, step };
}

const kinds: Record<string, (text: string) => ReturnType<typeof finish>> = {
  text: (delta) => ({ type: "text-delta", id: "t", delta }),
  reasoning: (delta) => ({ type: "reasoning-delta", id: "r", delta }),
  arguments: (delta) => ({ type: "tool-input-delta", id: "a", delta }),
  files: (text) => ({ type: "file", mediaType: "image/png", data: { type: "data", data: Buffer.from(text) } }),
  "results of a provider's own tools": (result) => ({ type: "tool-result", toolCallId: "p", toolName: "web", result }),
  sources: (title) => ({ type: "source", sourceType: "url", id: "s", url: "https://example.org", title }),
  "calls with long names": (toolName) => ({ type: "tool-call", toolCallId: "c", toolName, input: "" }),
  "parts of an unknown type": (text) => ({ type: "new", text }) as never,
};
for (const [what, part] of Object.entries(kinds))
  test(`an answer with endless ${what} is not read to its end`, async () => {
    const { read, step } = endless(part);
    await using h = await harness({ model: script(step, say("Sorry.")) });
    assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
    assert.ok(read.parts >= 32 && read.parts < 50, `${read.parts} MB were read`);
  });

test("calls with more than 32 MB of arguments are not run, and their results say why", async () => {
  const { note, runs } = noting();
  const what = "x".repeat(20 * MB);
  const step = call(["note", { what: "small" }, "a"], ["note", { what }, "b"], ["note", { what }, "c"]);
  const model = script(step, say("done"));
  await using h = await harness({ model, tools: { note } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(runs, []);
  for (const content of results(h.seen)) assert.match(content, /^Not accepted: the answer was larger than 32 MB/);
  assert.ok(results(h.seen).length >= 1);
  assert.ok(JSON.stringify(await h.listMessages()).length < MB, "nothing of the arguments is kept");
  assert.deepEqual(problemsOf(model), []);
});

test("of the calls of an answer that was too large, a signature is kept, and long metadata is not", async () => {
  const noted = (toolCallId: string, signature: string) =>
    ({
      type: "tool-call",
      toolCallId,
      toolName: "note",
      input: '{"what":"x"}',
      providerMetadata: { google: { signature } },
    }) as const;
  const model = script(
    parts(noted("a", "signed"), noted("b", "x".repeat(30 * MB)), noted("c", "x".repeat(30 * MB))),
    say("done"),
  );
  const { note, runs } = noting();
  await using h = await harness({ model, tools: { note } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(runs, []);
  const [, answer] = await h.listMessages();
  const kept = answer!.content.flatMap((part) => (part.type === "tool-call" ? [part] : []));
  assert.deepEqual(
    kept.map(({ toolCallId, providerMetadata }) => [toolCallId, providerMetadata]),
    [
      ["a", { google: { signature: "signed" } }],
      ["b", undefined],
    ],
  );
});
