import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { Agent, CinchError, defineTool, Harness, memoryStore, type HarnessConfig } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { stamp } from "@cinch/core/journal";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness, missed, next } from "../support.ts";

const ran: string[] = [];
const deploy = defineTool({
  description: "Deploys",
  category: "execute",
  input: z.object({ to: z.string() }),
  execute: ({ to }) => `deployed ${ran.push(to)}`,
});
const code = (expected: string) => (error: unknown) => error instanceof CinchError && error.code === expected;
const asks = (to: string, id = to) => call(["deploy", { to }, id]);

test("a second approval of the oldest call, given while the first is in flight, does not approve a later call", async () => {
  ran.length = 0;
  const resolveModel = async () => {
    await sleep(100);
    return model;
  };
  const model = script(asks("staging"), asks("production"), say("done"));
  await using h = await harness({ model, tools: { deploy }, resolveModel });
  await h.post({ content: "Go", delivery: "send" });
  await next(h, "tool_approval_required");
  const first = h.respondToToolApproval({ decision: "approve" });
  const slow = h.switchModel({ modelId: "slow" });
  await assert.rejects(h.respondToToolApproval({ decision: "approve" }), code("NOT_PENDING"));
  await Promise.all([first, slow]);
  assert.deepEqual(ran, ["staging"]);
});

test("the oldest call is the one that has waited longest, not the first one in the message", async () => {
  const twice = defineTool({
    description: "Asks, and later asks again",
    category: "read",
    input: z.object({ n: z.number() }),
    execute: ({ n }, { suspend, resumed }) => (resumed?.data === "more" || !resumed ? suspend({ n }) : `${n} done`),
  });
  const model = script(call(["twice", { n: 1 }, "a"], ["twice", { n: 2 }, "b"]), say("done"));
  await using h = await harness({ model, tools: { twice } });
  const turn = h.sendMessage({ content: "Go" });
  while (h.getDisplayState().status !== "waiting") await next(h, "display_state_changed");
  const again = next(h, "tool_suspended");
  await h.respondToToolSuspension({ toolCallId: "a", resumeData: "more" });
  await again;
  const ended = next(h, "tool_end");
  await h.respondToToolSuspension({ resumeData: "enough" });
  await ended;
  assert.deepEqual(Object.keys(h.getDisplayState().pendingSuspensions), ["a"]);
  await h.respondToToolSuspension({ resumeData: "enough" });
  assert.equal((await turn).reason, "complete");
});

test("the process that sees an input first drives it, also if it only follows the thread", async () => {
  const data = new MemoryData();
  await using h = await harness({ model: scriptedBy(() => say("hi")), storage: memoryStore(data) });
  const { id } = await h.createThread({ title: "x" });
  for (let n = 0; n < 5; n++) {
    const other = memoryStore(data);
    await other.open();
    const ended = next(h, "agent_end");
    const { seq } = (await other.read(id)).at(-1)!;
    const said = stamp({ type: "input_accepted", inputId: `i${n}`, delivery: "send", content: "Hello" }, 1);
    await other.append(id, [said], { afterSeq: seq });
    await (n % 2 ? h.resume() : h.removeInput({ inputId: "none" }).catch(() => undefined));
    assert.equal((await ended).reason, "complete");
  }
});

function withModes(data: MemoryData, ids: string[], config: Partial<HarnessConfig> & { agent: Agent }) {
  const { agent, ...rest } = config;
  const h = new Harness({ id: "x", storage: memoryStore(data), modes: ids.map((id) => ({ id, agent })), ...rest });
  return Object.assign(h, { [Symbol.asyncDispose]: () => h.close() });
}

test("a driver releases a turn that is switched to a mode that it lacks, and another continues it", async () => {
  const data = new MemoryData();
  const { gate, started, open } = gated();
  const permissions = [{ category: "other" as const, policy: "allow" as const }];
  const agent = new Agent({ name: "a", model: script(call("gate"), say("done")), tools: { gate } });
  await using narrow = withModes(data, ["a"], { agent, permissions });
  await using wide = withModes(data, ["a", "b"], { agent, permissions });
  const turn = narrow.sendMessage({ content: "Go" });
  await started;
  await wide.switchThread({ threadId: narrow.getCurrentThreadId()! });
  await wide.switchMode({ modeId: "b" });
  open();
  assert.equal((await turn).reason, "complete");
});

test("a turn in a mode that no longer exists continues after a switch to an existing one", async () => {
  ran.length = 0;
  const data = new MemoryData();
  const agent = new Agent({ name: "a", model: script(asks("staging"), say("done")), tools: { deploy } });
  const before = withModes(data, ["old"], { agent });
  await before.switchMode({ modeId: "old" });
  await before.post({ content: "Go", delivery: "send" });
  const { threadId } = await next(before, "tool_approval_required");
  await before.close();
  await using h = withModes(data, ["new"], { agent });
  const info = next(h, "info");
  await h.switchThread({ threadId });
  await h.respondToToolApproval({ decision: "approve" });
  assert.match((await info).message, /no mode "old" here/);
  await assert.rejects(h.resume(), code("UNKNOWN_MODE"));
  const ended = next(h, "agent_end");
  await h.switchMode({ modeId: "new" });
  assert.equal((await ended).reason, "complete");
  assert.deepEqual(ran, ["staging"]);
});

test("a rule that another process sets applies in a clone and in a new thread that are created right after it", async () => {
  for (const make of ["cloneThread", "createThread"] as const) {
    const data = new MemoryData();
    const model = script(say("hi"));
    await using a = await harness({ model, storage: memoryStore(data) });
    const { id } = await a.createThread();
    await using b = await harness({ model, storage: memoryStore(data) });
    await b.switchThread({ threadId: id });
    await a.setPermissionForTool({ toolName: "rm", policy: "deny" });
    await b[make]();
    assert.deepEqual(b.getPermissionRules().at(-1), { toolName: "rm", policy: "deny" });
  }
});

test("after a decline without a message, no other call waits for an approval", async () => {
  ran.length = 0;
  const { gate, started, open } = gated();
  const model = script(
    call(["deploy", { to: "a" }, "no"], ["deploy", { to: "b" }, "yes"], ["gate", {}, "g"]),
    say("x"),
  );
  await using h = await harness({ model, tools: { deploy, gate } });
  const turn = h.sendMessage({ content: "Go" });
  await started;
  await h.respondToToolApproval({ toolCallId: "no", decision: "decline" });
  assert.deepEqual(h.getDisplayState().pendingApprovals, {});
  await assert.rejects(h.respondToToolApproval({ toolCallId: "yes", decision: "approve" }), code("NOT_PENDING"));
  open();
  assert.equal((await turn).reason, "declined");
  assert.deepEqual(ran, []);
});

test("a thread that was switched to the default mode stays in it, also when another mode becomes the default", async () => {
  const data = new MemoryData();
  const agent = new Agent({ name: "a", model: script(say("hi")) });
  const before = withModes(data, ["plan", "build"], { agent });
  await before.switchMode({ modeId: "plan" });
  await before.close();
  await using h = withModes(data, ["plan", "build"], { agent, defaultModeId: "build" });
  await h.selectOrCreateThread();
  assert.equal(h.getCurrentModeId(), "plan");
});

test("a call that reuses the id of an answered call is not answered", async () => {
  const model = script(asks("a", "c0"), asks("b", "c0"), say("done"));
  await using h = await harness({ model, tools: { deploy } });
  await h.post({ content: "Go", delivery: "send" });
  await next(h, "tool_approval_required");
  const again = next(h, "tool_approval_required");
  await h.respondToToolApproval({ toolCallId: "c0", decision: "approve" });
  await again;
  await h.abort();
  await assert.rejects(h.respondToToolApproval({ toolCallId: "c0", decision: "approve" }), code("NOT_PENDING"));
});

test("a store that is busy for one read delays a turn that is continued, and does not end it", missed(), async () => {
  const data = new MemoryData();
  const { gate, started } = gated("pure");
  const model = script(call("gate"), say("done"));
  const first = await harness({ model, tools: { gate }, storage: memoryStore(data) });
  await first.post({ content: "Go", delivery: "send" });
  await started;
  const closed = first.close();
  const storage = memoryStore(data);
  const draft = storage.draft.bind(storage);
  // Once for the display, once for the driver.
  let failures = 2;
  storage.draft = async (id) => {
    if (failures-- > 0) throw new CinchError("STORE_BUSY", "Busy.");
    return draft(id);
  };
  await closed;
  const second = gated("pure");
  second.open();
  await using h = await harness({ model, tools: { gate: second.gate }, storage });
  const ended = next(h, "agent_end");
  await h.selectOrCreateThread();
  assert.equal((await ended).reason, "complete");
});

test("a rule that is set while a call is judged applies to that call", async () => {
  const [judged, ruled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const runs: string[] = [];
  const act = defineTool({
    description: "Acts",
    input: z.object({
      what: z.string().refine(async () => {
        judged.resolve();
        await ruled.promise;
        return true;
      }),
    }),
    execute: ({ what }) => void runs.push(what),
  });
  await using h = await harness({ model: script(call("act", { what: "it" }), say("done")), tools: { act } });
  const ended = next(h, "tool_end");
  await h.post({ content: "go", delivery: "send" });
  await judged.promise;
  await h.setPermissionForTool({ toolName: "act", policy: "deny" });
  ruled.resolve();
  assert.match(String((await ended).result.content), /^Denied/);
  assert.deepEqual(runs, []);
});
