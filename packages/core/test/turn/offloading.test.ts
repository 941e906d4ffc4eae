import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, textOf, type HarnessEvent, type Store, type ToolSet } from "@cinch/core";
import { newThreadState, reduceThread, stamp } from "@cinch/core/journal";
import { MemoryData } from "@cinch/core/store";
import { call, finish, parts, say, script } from "@cinch/testkit";
import * as z from "zod";
import { trieRecord } from "../../src/folds/trie.ts";
import { asking, gated, harness } from "../support.ts";

const LIMIT = 80_000;

/** Lines that differ, so that no part of the text can stand for another. */
const numbered = (chars: number): string => {
  const lines = Array.from({ length: Math.ceil(chars / 10) }, (_, at) => `${String(at).padStart(9, "0")}\n`);
  return lines.join("").slice(0, chars);
};

/** With a tool of this name, the model can read the rest. */
const recall = defineTool({ description: "Recalls", input: z.object({}), execute: () => "" });

const giving = (output: unknown) =>
  defineTool({ description: "Gives", input: z.object({}), effect: "pure", execute: () => output });

/** Calls `give` once. */
async function given(output: unknown, more: { tools?: ToolSet; storage?: Store } = {}) {
  const { tools = { recall }, storage = memoryStore() } = more;
  const model = script(call("give"), say("done"));
  const h = await harness({ model, tools: { give: giving(output), ...tools }, storage });
  const { reason } = await h.sendMessage({ content: "go" });
  assert.equal(reason, "complete");
  return Object.assign(h, { model, storage });
}

const last = <T extends HarnessEvent["type"]>(seen: readonly HarnessEvent[], type: T) =>
  seen.findLast((event): event is Extract<HarnessEvent, { type: T }> => event.type === type);

async function offloadedText(storage: Store, seen: readonly HarnessEvent[]): Promise<string> {
  const bytes = await storage.blob(last(seen, "context_offloaded")!.blob);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

test("a result of 80,000 characters stays whole, and one character more is offloaded", async () => {
  await using short = await given(numbered(LIMIT));
  assert.equal(last(short.seen, "tool_end")!.result.content, numbered(LIMIT));
  assert.equal(last(short.seen, "context_offloaded"), undefined);
  await using long = await given(numbered(LIMIT + 1));
  assert.equal(await offloadedText(long.storage, long.seen), numbered(LIMIT + 1));
});

test("the model gets the beginning and the end of an offloaded result, and how many characters are missing", async () => {
  const whole = numbered(1_000_000);
  await using h = await given(whole);
  const shown = String(last(h.seen, "tool_end")!.result.content);
  const [head, note, tail] = shown.split(/\n{2,3}/);
  assert.deepEqual([head, tail], [whole.slice(0, 7_999), whole.slice(-4_000)]);
  assert.match(note!, /^\[988000 of 1000000 characters left out here\. /);
  assert.ok(JSON.stringify(h.model.requests[1]!.prompt).includes(JSON.stringify(note).slice(1, -1)));
});

test("the event says what was offloaded, where it is and how long it is, and stands before the end of the call", async () => {
  const whole = `${"é".repeat(LIMIT)}!`;
  await using h = await given(whole);
  const { type, toolCallId, toolName, path, blob, chars, bytes, seq } = last(h.seen, "context_offloaded")!;
  const end = last(h.seen, "tool_end")!;
  assert.deepEqual(
    { type, toolCallId, toolName, chars, bytes },
    { type: "context_offloaded", toolCallId: end.toolCallId, toolName: "give", chars: LIMIT + 1, bytes: 2 * LIMIT + 1 },
  );
  assert.equal(path, `/.cinch/context/result-${blob.slice(0, 32)}.txt`);
  assert.equal(end.seq, seq + 1);
});

test("the event and the end of the call are one append", async () => {
  const storage = memoryStore();
  const appends: string[][] = [];
  const append = storage.append.bind(storage);
  storage.append = (id, events, options) => {
    appends.push(events.map(({ type }) => type));
    return append(id, events, options);
  };
  const h = await given(numbered(LIMIT + 1), { storage });
  await h.close();
  assert.deepEqual(
    appends.filter((types) => types.includes("context_offloaded")),
    [["context_offloaded", "tool_end", "step_end"]],
  );
});

test("if another process appends first, the result is offloaded once, after what that process appended", async () => {
  const storage = memoryStore();
  const append = storage.append.bind(storage);
  let isFirst = true;
  storage.append = async (id, events, options) => {
    if (isFirst && events.some(({ type }) => type === "context_offloaded")) {
      isFirst = false;
      await append(id, [stamp({ type: "state_changed", updates: { seen: true } }, 1)], { afterSeq: options.afterSeq });
    }
    return append(id, events, options);
  };
  await using h = await given(numbered(LIMIT + 1), { storage });
  const { threadId } = last(h.seen, "tool_end")!;
  const types = (await storage.read(threadId)).map(({ type }) => type);
  const from = types.indexOf("state_changed");
  assert.deepEqual(types.slice(from, from + 3), ["state_changed", "context_offloaded", "tool_end"]);
  assert.equal(types.filter((type) => type === "context_offloaded").length, 1);
});

test("an error that is too long is offloaded, and stays an error", async () => {
  const whole = numbered(LIMIT + 1);
  const give = defineTool({
    description: "Fails",
    input: z.object({}),
    execute: () => {
      throw new Error(whole);
    },
  });
  const storage = memoryStore();
  await using h = await harness({ model: script(call("give"), say("done")), tools: { give, recall }, storage });
  await h.sendMessage({ content: "go" });
  const { isError, result } = last(h.seen, "tool_end")!;
  assert.equal(isError, true);
  assert.match(String(result.content), /68001 of 80001 characters left out here/);
  assert.equal(await offloadedText(storage, h.seen), whole);
});

test("the texts of a multimodal result count together; its files and details stay", async () => {
  const half = numbered(LIMIT / 2);
  const file = { type: "file" as const, mediaType: "image/png", data: new Uint8Array([1, 2, 3]) };
  const content = [{ type: "text" as const, text: half }, file, { type: "text" as const, text: half }];
  await using h = await given({ content, details: { kept: true } });
  const { result } = last(h.seen, "tool_end")!;
  const types = (result.content as { type: string }[]).map(({ type }) => type);
  assert.deepEqual([types, result.details], [["text", "file"], { kept: true }]);
  assert.ok(textOf(result.content).length < 13_000);
  assert.equal(await offloadedText(h.storage, h.seen), `${half}\n${half}`);
});

test("the answer of a person to a question is offloaded too", async () => {
  const storage = memoryStore();
  const model = script(call("asking", { question: "Which?" }), say("done"));
  await using h = await harness({ model, tools: { asking }, storage });
  const sent = h.sendMessage({ content: "go" });
  await h.settled();
  await h.respondToToolSuspension({ resumeData: numbered(LIMIT) });
  await sent;
  assert.equal(await offloadedText(storage, h.seen), `answer: ${numbered(LIMIT)}`);
});

test("a long message of a decline is offloaded after the starts of the other calls, whose keys stay true", async () => {
  const data = new MemoryData();
  const model = script(call(["guarded", {}, "a"], ["guarded", {}, "b"]), say("done"));
  const guarded = defineTool({
    description: "Asks first",
    category: "execute",
    input: z.object({}),
    execute: () => "",
  });
  const storage = memoryStore(data);
  const asks = await harness({ model, tools: { guarded }, storage });
  const sent = asks.sendMessage({ content: "go" });
  sent.catch(() => undefined);
  await asks.settled();
  const threadId = asks.getCurrentThreadId()!;
  await asks.close();
  // A process without the tool can answer, and leaves the calls to others: both answers wait for the driver.
  const answers = await harness({ model, storage: memoryStore(data) });
  await answers.switchThread({ threadId });
  await answers.respondToToolApproval({ toolCallId: "a", decision: "decline", message: numbered(LIMIT + 1) });
  await answers.respondToToolApproval({ toolCallId: "b", decision: "approve" });
  await answers.close();
  await using h = await harness({ model, tools: { guarded }, storage: memoryStore(data) });
  await h.switchThread({ threadId });
  await h.settled();
  const durable = await h.listEvents({ limit: 1_000 });
  const starts = durable.filter((event) => event.type === "tool_start");
  assert.deepEqual(
    starts.map(({ key }) => key),
    starts.map((event) => `${threadId}:${event.seq}`),
  );
  assert.equal(starts.length, 1);
  assert.equal(await offloadedText(memoryStore(data), durable as HarnessEvent[]), numbered(LIMIT + 1));
});

test("a long message of the user is offloaded when it is taken, with its files; the input keeps the whole", async () => {
  const whole = numbered(LIMIT + 1);
  const storage = memoryStore();
  await using h = await harness({ model: script(say("read")), tools: { recall }, storage });
  const data = new Uint8Array([1]);
  await h.sendMessage({ content: whole, files: [{ mediaType: "image/png", data }] });
  const said = h.seen.find((event) => event.type === "message_end")!;
  const { messageId, path, seq } = last(h.seen, "context_offloaded")!;
  assert.deepEqual([messageId, said.seq], [said.message.id, seq + 1]);
  assert.match(path, /^\/\.cinch\/context\/message-[0-9a-f]{32}\.txt$/);
  assert.deepEqual(
    said.message.content.map(({ type }) => type),
    ["text", "file"],
  );
  assert.match(textOf(said.message.content), /68001 of 80001 characters left out here/);
  assert.equal(await offloadedText(storage, h.seen), whole);
  assert.equal(last(h.seen, "input_accepted")!.content, whole);
});

test("a long steer into a running turn is offloaded too", async () => {
  const storage = memoryStore();
  const { gate, open, started } = gated();
  await using h = await harness({ model: script(call("gate"), say("read")), tools: { gate, recall }, storage });
  const sent = h.sendMessage({ content: "go" });
  await started;
  await h.steer({ content: numbered(LIMIT + 1) });
  open();
  await sent;
  assert.equal(await offloadedText(storage, h.seen), numbered(LIMIT + 1));
});

test("a long answer of the model is not offloaded, nor what a tool of its provider returned", async () => {
  const long = numbered(LIMIT + 1);
  const search = { toolCallId: "s", toolName: "search" };
  const model = script(
    parts(
      { type: "tool-call", ...search, input: "{}", providerExecuted: true },
      { type: "tool-result", ...search, result: long },
      finish("stop"),
    ),
    say(long),
  );
  await using h = await harness({ model });
  await h.sendMessage({ content: "go" });
  await h.sendMessage({ content: "again" });
  assert.equal(last(h.seen, "context_offloaded"), undefined);
  assert.equal(textOf(last(h.seen, "message_end")!.message.content), long);
  assert.ok(JSON.stringify(model.requests[1]!.prompt).includes(JSON.stringify(long)));
});

test("if no tool can read the rest, the model gets 80,000 characters of a result, and the advice to ask for less", async () => {
  const whole = numbered(1_000_000);
  await using h = await given(whole, { tools: {} });
  const shown = String(last(h.seen, "tool_end")!.result.content);
  assert.ok(shown.startsWith(whole.slice(0, 56_000)) && shown.endsWith(whole.slice(-24_000)));
  assert.match(
    shown.slice(56_000, -24_000),
    /^\s*\[920000 of 1000000 .* no tool here can read it: ask for a smaller part/,
  );
  assert.equal(await offloadedText(h.storage, h.seen), whole);
});

test("if no tool can read the rest, a message of the user stays whole", async () => {
  const model = script(say("read"));
  await using h = await harness({ model });
  await h.sendMessage({ content: numbered(LIMIT + 1) });
  assert.equal(last(h.seen, "context_offloaded"), undefined);
  assert.ok(JSON.stringify(model.requests[0]!.prompt).includes(JSON.stringify(numbered(LIMIT + 1))));
});

test("without a workspace, but with a tool named recall, the text names it", async () => {
  await using h = await given(numbered(LIMIT + 1), { tools: { recall } });
  assert.match(String(last(h.seen, "tool_end")!.result.content), /find the rest with recall\.\]/);
});

test("a tool of the user named read_file can't read offloaded texts, and is not named", async () => {
  await using h = await given(numbered(LIMIT + 1), { tools: { read_file: giving("") } });
  assert.doesNotMatch(String(last(h.seen, "tool_end")!.result.content), /read_file/);
});

test("of 100 MB, 32 million characters are kept, and the text says how many are lost", async () => {
  await using h = await given(`START${"a".repeat(1e8)}END`);
  const shown = String(last(h.seen, "tool_end")!.result.content);
  assert.ok(shown.length < 13_000 && shown.startsWith("START") && shown.endsWith("aEND"));
  assert.match(shown, /Only 32000000 characters were kept: 68000008 in the middle are lost\./);
  assert.equal(last(h.seen, "context_offloaded")!.chars, 100_000_008);
  const kept = await offloadedText(h.storage, h.seen);
  assert.ok(kept.length < 32_001_000 && kept.startsWith("START") && kept.endsWith("aEND"));
  assert.match(kept.slice(15_999_990, 16_000_100), /a\n\[68000008 characters were not kept here\]\na/);
});

test("a cut through a pair of surrogates leaves no half of it in the excerpt", async () => {
  await using h = await given(`a${"😀".repeat(LIMIT)}`);
  const shown = String(last(h.seen, "tool_end")!.result.content);
  assert.ok(shown.isWellFormed());
  assert.equal(await offloadedText(h.storage, h.seen), `a${"😀".repeat(LIMIT)}`);
});

test("a clone inherits what was offloaded, and a rewind reverts it", async () => {
  const storage = memoryStore();
  const model = script(say("hi"), call("give"), say("done"), say("after"));
  await using h = await harness({ model, tools: { give: giving(numbered(LIMIT + 1)) }, storage });
  const { id } = await h.createThread();
  await h.sendMessage({ content: "hello" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "go" });
  const { path } = last(h.seen, "context_offloaded")!;
  const paths = async (threadId: string) => {
    const state = (await storage.read(threadId)).reduce(reduceThread, newThreadState);
    return Object.keys(trieRecord(state.files.offloaded));
  };
  assert.deepEqual(await paths(id), [path]);
  const clone = await h.cloneThread();
  assert.deepEqual(await paths(clone.id), [path]);
  await h.switchThread({ threadId: id });
  await h.rewind({ toSeq: seq });
  assert.deepEqual(await paths(id), []);
  assert.deepEqual(await paths(clone.id), [path]);
});

test("the blob is deleted with the last thread whose journal has the event", async () => {
  await using h = await given(numbered(LIMIT + 1));
  const { blob, threadId } = last(h.seen, "context_offloaded")!;
  const clone = await h.cloneThread();
  await h.deleteThread({ threadId });
  assert.ok(await h.storage.blob(blob));
  await h.deleteThread({ threadId: clone.id });
  assert.equal(await h.storage.blob(blob), undefined);
});
