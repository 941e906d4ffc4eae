import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type ToolContext } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { DyingStore } from "../dying-store.ts";
import { harness, next } from "../support.ts";

type Run = (context: ToolContext, what: string) => unknown;

/** A tool `act` that runs the function of the test. */
const acting = (run: Run, effect: "once" | "idempotent" = "once") => ({
  act: defineTool({
    description: "Acts",
    effect,
    input: z.object({ what: z.optional(z.string()) }),
    execute: ({ what = "" }, context) => run(context, what),
  }),
});
const once = () => script(call("act"), say("done"));
const results = (seen: readonly { type: string }[]) =>
  (seen as { type: string; result: { content: unknown }; isError: boolean }[])
    .filter(({ type }) => type === "tool_end")
    .map(({ result, isError }) => [result.content, isError]);

/** Records the events of each append. */
class NotingStore extends MemoryStore {
  readonly appends: string[][] = [];

  override append(threadId: string, events: readonly StampedEvent[], options: AppendOptions) {
    this.appends.push(events.map(({ type }) => type));
    return super.append(threadId, events, options);
  }
}

test("a tool reads the thread's state, and its changes are written in the append that ends its call", async () => {
  const storage = new NotingStore(new MemoryData());
  const seen: unknown[] = [];
  const tools = acting(({ state, setState, resourceId }) => {
    seen.push(state, resourceId);
    setState({ count: 2 });
    setState({ city: "Rome" });
    return "acted";
  });
  await using h = await harness({ model: once(), tools, storage, resourceId: "ada", initialState: { count: 0 } });
  await h.setState({ count: 1 });
  const isUnchanged = new Promise((resolve) => {
    h.subscribe((event) => event.type === "tool_start" && resolve(h.getState()["count"]));
  });
  await h.sendMessage({ content: "go" });
  assert.equal(await isUnchanged, 1);
  assert.deepEqual(seen, [{ count: 1, yolo: false }, "ada"]);
  assert.deepEqual(h.getState(), { count: 2, city: "Rome", yolo: false });
  assert.deepEqual(
    storage.appends.filter((types) => types.includes("tool_end")),
    [["state_changed", "tool_end", "step_end"]],
  );
});

test("a tool reads its own changes, and its copy of the state is independent", async () => {
  const seen: unknown[] = [];
  const tools = acting((context) => {
    context.setState({ list: [1] });
    (context.state["list"] as number[]).push(2);
    seen.push(context.state);
    return "acted";
  });
  await using h = await harness({ model: once(), tools });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(seen, [{ list: [1], yolo: false }]);
  assert.deepEqual(h.getState(), { list: [1], yolo: false });
});

test("updates that do not fit the stateSchema throw in the tool, and are refused as a whole", async () => {
  const stateSchema = z.object({ count: z.number().default(0) });
  const bad: unknown[] = [{ count: "2" }, { cuont: 3 }, { count: 1n }, null, "x", { yolo: true }];
  for (const updates of bad) {
    const tools = acting(({ setState }) => {
      setState(updates as Record<string, unknown>);
      return "not reached";
    });
    await using h = await harness({ model: once(), tools, stateSchema });
    await h.sendMessage({ content: "go" });
    const [end] = h.seen.filter((event) => event.type === "tool_end");
    assert.equal(end?.isError, true);
    assert.deepEqual(end.result.details, { code: "INVALID_INPUT" });
    assert.deepEqual(h.getState(), { count: 0, yolo: false });
  }
});

test("a tool may pass the whole state to setState", async () => {
  const tools = acting(({ state, setState }) => setState({ ...state, count: 1 }));
  await using h = await harness({ model: once(), tools, initialState: { yolo: true, count: 0 } });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(h.getState(), { count: 1, yolo: true });
});

test("the changes of a call are kept if it fails afterwards", async () => {
  const tools = acting(({ setState }) => {
    setState({ order: 17 });
    throw new Error("The payment failed.");
  });
  await using h = await harness({ model: once(), tools });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(results(h.seen), [["The payment failed.", true]]);
  assert.deepEqual(h.getState(), { order: 17, yolo: false });
});

test("calls that run in parallel keep each other's changes", async () => {
  const tools = acting(({ setState }, what) => {
    setState({ [what]: true });
    return what;
  });
  const model = script(call(["act", { what: "a" }], ["act", { what: "b" }], ["act", { what: "c" }]), say("done"));
  await using h = await harness({ model, tools });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(h.getState(), { a: true, b: true, c: true, yolo: false });
});

test("a change that no longer fits when its call ends is refused, and the result tells the model", async () => {
  const total = z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a + b <= 10, "a and b are at most 10");
  const both = Promise.withResolvers<void>();
  let set = 0;
  const tools = acting(async ({ setState }, what) => {
    setState({ [what]: 8 });
    if (++set === 2) both.resolve();
    await both.promise;
    return `did ${what}`;
  });
  const model = script(call(["act", { what: "a" }], ["act", { what: "b" }]), say("done"));
  await using h = await harness({ model, tools, stateSchema: total, initialState: { a: 0, b: 0 } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const [fits, refused] = results(h.seen).toSorted((a, b) => Number(a[1]) - Number(b[1]));
  assert.equal(fits?.[1], false);
  assert.match(String(refused?.[0]), /^The call ran, but the state .* not changed: .*at most 10.*did [ab]$/s);
  const { a, b } = h.getState();
  assert.equal(Number(a) + Number(b), 8);
});

test("changes before a suspension are written with it, and are there when the call continues", async () => {
  const seen: unknown[] = [];
  const tools = acting(({ state, setState, suspend, resumed }) => {
    if (resumed) return seen.push(state["asked"]);
    setState({ asked: "ada" });
    return suspend("really?");
  });
  const data = new MemoryData();
  const storage = new NotingStore(data);
  const first = await harness({ model: once(), tools, storage });
  const asked = next(first, "tool_suspended");
  const turn = first.sendMessage({ content: "go" });
  turn.catch(() => undefined);
  await asked;
  assert.deepEqual(first.getState(), { asked: "ada", yolo: false });
  assert.deepEqual(
    storage.appends.filter((types) => types.includes("tool_suspended")),
    [["state_changed", "tool_suspended"]],
  );
  await first.close();
  await using h = await harness({ model: script(say("done")), tools, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  const ended = next(h, "agent_end");
  await h.respondToToolSuspension({ resumeData: "yes" });
  await ended;
  assert.deepEqual(seen, ["ada"]);
});

test("a crash before the append that ends a call leaves the old state, and one after it the new one", async () => {
  const isEnd = (types: string[]) => types.includes("tool_end");
  for (const place of ["before", "after"] as const) {
    const data = new MemoryData();
    const dying = new DyingStore(data);
    const runs: unknown[] = [];
    const tools = acting(({ state, setState }) => {
      runs.push(state["count"]);
      // The next call of the store appends the end of this call.
      if (runs.length === 1) dying.dieAt({ nth: 1, place });
      setState({ count: Number(state["count"]) + 1 });
      return "acted";
    }, "idempotent");
    const model = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("done") : call("act")));
    const config = { model, tools, initialState: { count: 0 } };
    const first = await harness({ ...config, storage: dying });
    await first.sendMessage({ content: "go" }).catch(() => undefined);
    await first.close().catch(() => undefined);
    await using h = await harness({ ...config, storage: memoryStore(data), recover: "all" });
    await h.selectOrCreateThread();
    while (h.getDisplayState().status !== "idle") await next(h, "display_state_changed");
    assert.deepEqual(runs, place === "before" ? [0, 0] : [0], place);
    assert.equal(h.getState()["count"], 1);
    assert.equal(isEnd(h.seen.map(({ type }) => type)), place === "before");
  }
});

test("setState throws after its call has ended", async () => {
  let late: ToolContext["setState"] | undefined;
  const tools = acting(({ setState }) => {
    late = setState;
    return "acted";
  });
  await using h = await harness({ model: once(), tools });
  await h.sendMessage({ content: "go" });
  assert.throws(() => late?.({ a: 1 }), { code: "INVALID_INPUT" });
  assert.deepEqual(h.getState(), { yolo: false });
});
