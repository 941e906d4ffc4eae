import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type ContextSource, type HarnessEvent } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";

/** A source whose text the test changes. */
const changing = (name: string): ContextSource & { text: string | null; reads: number } => ({
  name,
  text: `${name}: one`,
  reads: 0,
  async read() {
    this.reads++;
    return this.text === null ? null : { text: this.text };
  },
});

/** `DATE` stands for the time of the event. */
function undated(text: string, at: number): string {
  return text.replace(/\((\d{4}-\d\d-\d\d \d\d:\d\d UTC)\)/, (all, date: string) =>
    Math.abs(Date.parse(date) - at) < 120_000 ? "DATE" : all,
  );
}

const notesOf = (seen: readonly HarnessEvent[]): string[] =>
  seen.flatMap((event) =>
    event.type === "message_end" && event.about === "context" && event.message.content[0]?.type === "text"
      ? [undated(event.message.content[0].text, event.at)]
      : [],
  );

test("the text of a source is in the head, and a change is one note on the next turn", async () => {
  const rules = changing("rules");
  const model = script(say("1"), say("2"), say("3"));
  await using h = await harness({ model, context: [rules] });
  await h.sendMessage({ content: "a" });
  rules.text = "rules: two";
  await h.sendMessage({ content: "b" });
  await h.sendMessage({ content: "c" });
  assert.deepEqual(notesOf(h.seen), ["Changed since this conversation began: rules DATE\n\nrules: two"]);
  const [first, , third] = model.requests.map(({ prompt }) => prompt);
  assert.deepEqual(first![0], { role: "system", content: "Test.\n\nrules: one" });
  assert.deepEqual(JSON.parse(JSON.stringify(third!.slice(0, 2))), JSON.parse(JSON.stringify(first!.slice(0, 2))));
  assert.equal(h.seen.filter(({ type }) => type === "prompt_head").length, 1);
});

test("after a compaction, the next head has the new text, with the reason", async () => {
  const rules = changing("rules");
  const model = script(say("1"), say("2"), say("3"), say("4"));
  const memory = {
    plan: ({ isRequested, boundaries, fromSeq }: Parameters<import("@cinch/core").Memory["plan"]>[0]) => ({
      cut: isRequested
        ? {
            kind: "summarise" as const,
            range: [fromSeq, boundaries.at(-1)!.seq] as [number, number],
            reason: "requested" as const,
          }
        : null,
      observe: null,
      reflect: null,
    }),
    summarise: async () => "They talked.",
  };
  await using h = await harness({ model, context: [rules], memory });
  await h.sendMessage({ content: "a" });
  rules.text = "rules: two";
  await h.sendMessage({ content: "b" });
  await h.compact();
  await h.sendMessage({ content: "c" });
  const heads = h.seen.filter((event) => event.type === "prompt_head");
  assert.deepEqual(
    heads.map(({ reason }) => reason),
    ["first use", "context sources changed"],
  );
  assert.match(JSON.stringify(model.requests.at(-1)!.prompt[0]), /rules: two/);
});

test("a source that has no text any more is a note too", async () => {
  const rules = changing("rules");
  await using h = await harness({ model: script(say("1"), say("2"), say("3")), context: [rules] });
  await h.sendMessage({ content: "a" });
  rules.text = null;
  await h.sendMessage({ content: "b" });
  await h.sendMessage({ content: "c" });
  assert.deepEqual(notesOf(h.seen), ["Not there any more, and no longer in force: rules DATE"]);
});

test("a source that fails does not stop the turn, and does not affect the others", async () => {
  const broken: ContextSource = { name: "broken", read: () => Promise.reject(new Error("no such file")) };
  const rules = changing("rules");
  const model = script(say("1"));
  await using h = await harness({ model, context: [broken, rules] });
  assert.equal((await h.sendMessage({ content: "a" })).reason, "complete");
  const info = h.seen.find((event) => event.type === "info");
  assert.match(info!.message, /"broken" could not be read: no such file/);
  assert.match(JSON.stringify(model.requests[0]!.prompt[0]), /rules: one/);
});

test("the last text of a source that fails stands, also in another process, and what it says later is compared with it", async () => {
  const data = new MemoryData();
  const rules = changing("rules");
  const { read } = rules;
  const fails = () => Promise.reject(new Error("no such file"));
  const model = script(say("1"), say("2"), say("3"), say("4"), say("5"));
  await using first = await harness({ model, context: [rules], storage: memoryStore(data) });
  await first.sendMessage({ content: "a" });
  rules.read = fails;
  await first.sendMessage({ content: "b" });
  rules.read = read;
  await first.sendMessage({ content: "c" });
  rules.read = fails;
  await first.close();
  await using h = await harness({ model, context: [rules], storage: memoryStore(data) });
  await h.selectOrCreateThread();
  await h.sendMessage({ content: "d" });
  assert.deepEqual(notesOf([...first.seen, ...h.seen]), []);
  rules.read = read;
  rules.text = "rules: two";
  await h.sendMessage({ content: "e" });
  assert.deepEqual(notesOf(h.seen), ["Changed since this conversation began: rules DATE\n\nrules: two"]);
});

test("an abort while a source is read is no news about it", async () => {
  const rules = changing("rules");
  const reading = Promise.withResolvers<void>();
  await using h = await harness({ model: script(say("1"), say("2")), context: [rules] });
  await h.sendMessage({ content: "a" });
  const { read } = rules;
  rules.read = ({ signal }) => {
    reading.resolve();
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  };
  const turn = h.sendMessage({ content: "b" });
  await reading.promise;
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  rules.read = read;
  await h.sendMessage({ content: "c" });
  assert.deepEqual(notesOf(h.seen), []);
});

test("a source that the harness no longer has is a note", async () => {
  const data = new MemoryData();
  const model = script(say("1"), say("2"));
  await using first = await harness({ model, context: [changing("rules")], storage: memoryStore(data) });
  await first.sendMessage({ content: "a" });
  await first.close();
  await using h = await harness({ model, context: [changing("others")], storage: memoryStore(data) });
  await h.selectOrCreateThread();
  await h.sendMessage({ content: "b" });
  assert.deepEqual(notesOf(h.seen), [
    "New since this conversation began: others DATE\n\nothers: one",
    "Not there any more, and no longer in force: rules DATE",
  ]);
});

for (const [what, returned, says] of [
  ["a version that is no string", { text: "x", version: Date.now() }, /expected string, received number[^]*at version/],
  ["an empty version", { text: "x", version: "" }, /at version/],
  ["a text that is no string", { text: 5 }, /at text/],
  ["problems that are none", { text: "x", problems: "all" }, /at problems/],
  ["a string", "x", /must be an object with the keys text, version, change, problems/],
] as const)
  test(`a source that returns ${what} is reported with the reason, and does not stop the turn`, async () => {
    const rules = changing("rules");
    const model = script(say("1"), say("2"));
    await using h = await harness({ model, context: [rules] });
    await h.sendMessage({ content: "a" });
    rules.read = async () => returned as never;
    assert.equal((await h.sendMessage({ content: "b" })).reason, "complete");
    assert.deepEqual(notesOf(h.seen), []);
    const infos = h.seen.flatMap((event) => (event.type === "info" ? [event.message] : []));
    assert.match(infos.join(), /^The context source "rules" could not be read: What it returned can't be used/);
    assert.match(infos.join(), says);
  });

test("a source that returns nothing adds nothing", async () => {
  const model = script(say("1"));
  await using h = await harness({ model, context: [{ name: "empty", read: async () => undefined as never }] });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(
    h.seen.filter(({ type }) => type === "info"),
    [],
  );
});

test("every agent has the tools of a source, subagents with tools of their own too", async () => {
  const when = defineTool({ description: "When", category: "read", input: z.object({}), execute: () => "now" });
  const clock: ContextSource = { name: "clock", tools: { when }, read: async () => null };
  const model = script(call("when"), say("done"));
  await using h = await harness({ model, context: [clock] });
  await h.sendMessage({ content: "a" });
  assert.equal(h.seen.find((event) => event.type === "tool_end")?.result.content, "now");
});

test("two sources of one name, and a source without a name, are refused", async () => {
  const model = script();
  await assert.rejects(harness({ model, context: [changing("a"), changing("a")] }), {
    code: "INVALID_CONFIG",
    message: /two sources of one name/,
  });
  await assert.rejects(harness({ model, context: [{ read: async () => null } as never] }), { code: "INVALID_CONFIG" });
});

test("explainContext() counts sources apart", async () => {
  const rules = { ...changing("rules"), text: "x".repeat(400) };
  const skills: ContextSource = { name: "skills", kind: "skills", read: async () => ({ text: "y".repeat(800) }) };
  await using h = await harness({ model: script(say("1")), context: [rules, skills] });
  await h.sendMessage({ content: "a" });
  const { parts } = await h.explainContext();
  assert.ok(parts.memory > 0 && parts.skills > parts.memory && parts.instructions > 0);
});
