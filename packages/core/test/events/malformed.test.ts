import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CinchError,
  memoryStore,
  newDisplayState,
  reduceDisplay,
  type DurableEvent,
  type HarnessEvent,
  type Store,
} from "@cinch/core";
import {
  durableTypes,
  emptyTranscript,
  eventMap,
  newThreadState,
  reduceThread,
  reduceTranscript,
  stamp,
  type NewEvent,
  type StampedEvent,
} from "@cinch/core/journal";
import { MemoryData } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as fc from "fast-check";
import * as z from "zod/mini";
import { journals } from "../../../testkit/src/journal.ts";
import { readEvent } from "../../src/events/read-event.ts";
import { MISFIT, copierOf } from "../../src/events/schema-copy.ts";
import { harness, next, noting } from "../support.ts";

/** Events of a known type with wrong fields. */
const malformed: [string, object][] = [
  ["a message_end without a message", { type: "message_end", v: 1, at: 1 }],
  ["a message whose content is no list", said("hello")],
  ["a message with a part that is nothing", said([null])],
  ["a message with a text that is a number", said([{ type: "text", text: 7 }])],
  ["a tool_start without arguments", { type: "tool_start", v: 1, at: 1, ...tool(), key: "k", effect: "once" }],
  ["a tool_end without a result", { type: "tool_end", v: 1, at: 1, ...tool(), isError: false, durationMs: 1 }],
  ["an approval that offers no decisions", { type: "tool_approval_required", v: 1, at: 1, ...tool(), args: {} }],
  ["an input without content", { type: "input_accepted", v: 1, at: 1, inputId: "i", delivery: "send" }],
  ["a rule that is a word", { type: "permission_changed", v: 1, at: 1, rule: "allow" }],
  ["a live event", { type: "resync", v: 1, at: 1, seq: 9, displayState: null }],
  ["a tool_end that read a number", { ...ended(), reads: { "/a": 7 } }],
  ["an event of a newer release without a time", { type: "telepathy_received", v: 1 }],
  ["an event without a version", { type: "state_changed", at: 1, updates: {} }],
  ["an event without a type", { v: 1, at: 1 }],
];

function said(content: unknown): object {
  return { type: "message_end", v: 1, at: 1, message: { id: "m", role: "assistant", content } };
}

function ended(): object {
  return { type: "tool_end", v: 1, at: 1, ...tool(), result: { content: "" }, isError: false, durationMs: 1 };
}

function tool(): object {
  return { toolCallId: "c", toolName: "note" };
}

/** A thread whose turn waits for an approval, and another thread with the malformed event. */
async function twoThreads(event: object) {
  const data = new MemoryData();
  const { note } = noting();
  const config = { tools: { note }, permissions: [], storage: memoryStore(data) };
  const h = await harness({ model: script(call("note", { what: "x" }), say("done")), ...config });
  const good = (await h.createThread({ title: "good zebra" })).id;
  const asked = next(h, "tool_approval_required");
  await h.post({ content: "go", delivery: "send" });
  await asked;
  await h.close();

  const store = memoryStore(data);
  const first = stamp({ type: "thread_created", title: "bad zebra", resourceId: "default" }, 1);
  const input = stamp({ type: "input_accepted", inputId: "i", delivery: "send", content: "go" } as NewEvent, 1);
  const begun = stamp({ type: "agent_start", turnId: "u", modeId: "default", modelId: "m", resumed: false }, 1);
  await store.append("bad", [first, input, begun, event as StampedEvent], {
    afterSeq: 0,
    take: 0,
    release: true,
    active: true,
  });
  return { data, good, config: { ...config, storage: memoryStore(data) } };
}

describe("a malformed event of a known type", () => {
  for (const [what, event] of malformed) {
    test(`${what}: its thread is CORRUPT, and no other thread is affected`, async () => {
      const { good, config } = await twoThreads(event);
      await using h = await harness({ model: script(say("done")), ...config, recover: "all" });
      await assert.rejects(h.switchThread({ threadId: "bad" }), (error: CinchError) => {
        assert.deepEqual([error.name, error.code], ["CinchError", "CORRUPT"]);
        assert.match(error.message, /Event 4 of thread "bad".*deleteThread/s);
        return true;
      });
      const titles = (await h.listThreads()).map(({ title }) => title).toSorted();
      assert.deepEqual(titles, ["bad zebra", "good zebra"]);
      assert.equal((await h.listThreads({ query: "zebra" })).length, 2);
      assert.deepEqual(
        (await h.pendingApprovals()).map(({ threadId }) => threadId),
        [good],
      );
      await h.switchThread({ threadId: good });
      const end = next(h, "agent_end");
      await h.respondToToolApproval({ decision: "approve" });
      assert.equal((await end).reason, "complete");
      await h.deleteThread({ threadId: "bad" });
      assert.equal((await h.listThreads()).length, 1);
    });
  }

  test("that another process appends is reported, and the driving process keeps running", async () => {
    const store = memoryStore();
    await using h = await harness({ model: script(say("one"), say("two")), storage: store });
    const { id } = await h.createThread();
    await h.sendMessage({ content: "one" });
    await append(store, id, { type: "thread_renamed", v: 1, at: 1 });
    await assert.rejects(h.sendMessage({ content: "two" }), { name: "CinchError", code: "CORRUPT" });
    const beside = await h.createSession();
    await beside.createThread();
    assert.equal((await beside.sendMessage({ content: "three" })).reason, "complete");
  });
});

async function append(store: Store, id: string, event: object): Promise<void> {
  const [last] = await store.read(id, { last: true, limit: 1 });
  await store.append(id, [event as StampedEvent], { afterSeq: last!.seq });
}

/** Every way to leave out or replace one value, at any depth. */
function* damaged(value: unknown): Generator<unknown> {
  for (const other of [null, 0, "", true, [], {}]) yield other;
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    const rest = Object.entries(value).filter(([one]) => one !== key);
    if (!Array.isArray(value)) yield Object.fromEntries(rest);
    for (const other of damaged(field)) {
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other };
    }
  }
}

test("an event is well-formed exactly if the event map accepts it, whatever is missing or of another type", () => {
  const samples = fc.sample(journals, { numRuns: 200, seed: 1 }).flat();
  for (const type of durableTypes) {
    const some = samples.filter((event) => event.type === type).slice(0, 3);
    assert.ok(some.length > 0, type);
    for (const event of some) {
      const { type: _, v: __, at: ___, seq: ____, threadId: _____, ...fields } = event;
      for (const other of damaged(fields)) {
        if (typeof other !== "object" || other === null || Array.isArray(other)) continue;
        const read = { ...other, type, v: event.v, at: 1, seq: 1, threadId: "t" } as unknown as DurableEvent;
        assert.equal(
          accepts(() => readEvent(read)),
          isValid(read),
          JSON.stringify(read),
        );
      }
    }
  }
});

test("what is copied of an event is what its schema makes of it, whatever is missing, unknown or of another type", () => {
  const samples = fc.sample(journals, { numRuns: 200, seed: 1 }).flat();
  for (const type of durableTypes) {
    const { schema } = eventMap[type];
    const copy = copierOf(schema);
    for (const event of samples.filter((one) => one.type === type).slice(0, 3)) {
      for (const value of [event, withUnknown(event), ...damaged(event)]) {
        const { success, data } = z.safeParse(schema, value);
        assert.deepEqual(copy(value), success ? data : MISFIT, JSON.stringify(value));
      }
    }
  }
});

test("a schema that forbids other keys refuses a value that has one", () => {
  const copy = copierOf(z.strictObject({ tool: z.string() }));
  assert.deepEqual(copy({ tool: "note" }), { tool: "note" });
  assert.equal(copy({ tool: "note", by: "me" }), MISFIT);
});

/** With keys at any depth that no schema knows, and with one that is there without a value. */
function withUnknown(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withUnknown);
  const fields = Object.entries(value).map(([key, field]) => [key, withUnknown(field)]);
  return { ...Object.fromEntries(fields), telepathy: { strength: 1 }, by: undefined };
}

function accepts(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    assert.equal((error as CinchError).code, "CORRUPT");
    return false;
  }
}

/** Refinements, such as that a rule has either a tool or a category, are checked only when an event is written. */
function isValid(event: DurableEvent): boolean {
  const result = z.safeParse(eventMap[event.type].schema, event);
  // A range has two numbers: their number is not a refinement.
  const isRefined = ({ code, path }: z.core.$ZodIssue) =>
    (["too_small", "too_big", "unrecognized_keys"].includes(code) && path.at(-1) !== "range") ||
    (code === "custom" && path[0] === "rule");
  return result.success || result.error.issues.every(isRefined);
}

test("no fold throws for well-formed events that are reordered, repeated or missing", () => {
  fc.assert(
    fc.property(journals, fc.array(fc.nat(), { maxLength: 60 }), (events, picks) => {
      let [state, transcript, display] = [newThreadState, emptyTranscript, newDisplayState("t")];
      for (const [at, pick] of picks.entries()) {
        const event = { ...events[pick % events.length]!, seq: at + 1 };
        state = reduceThread(state, event);
        transcript = reduceTranscript(transcript, event);
        display = reduceDisplay(display, event as HarnessEvent);
      }
      assert.equal(state.seq, picks.length);
    }),
    { numRuns: 300 },
  );
});
