import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import {
  Agent,
  CinchError,
  defineTool,
  Harness,
  MemoryData,
  memoryStore,
  stamp,
  type HarnessConfig,
} from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness, next } from "../support.ts";

const ran: string[] = [];
const deploy = defineTool({
  description: "Deploys",
  category: "execute",
  input: z.object({ to: z.string() }),
  execute: ({ to }) => `deployed ${ran.push(to)}`,
});
const code = (expected: string) => (error: unknown) => error instanceof CinchError && error.code === expected;
const asks = (to: string, id = to) => call(["deploy", { to }, id]);

test("a second yes to the oldest, given while the first is on its way, is not a yes to what comes after", async () => {
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

test("the oldest is what has waited longest, as it is shown, not what stands first in the message", async () => {
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
  await h.respondToToolSuspension({ toolCallId: "a", resumeData: "more" });
  await next(h, "tool_suspended");
  await h.respondToToolSuspension({ resumeData: "enough" });
  await next(h, "tool_end");
  assert.deepEqual(Object.keys(h.getDisplayState().pendingSuspensions), ["a"]);
  await h.respondToToolSuspension({ resumeData: "enough" });
  assert.equal((await turn).reason, "complete");
});

test("whoever hears of an input first drives it, also if it was only looking", async () => {
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

test("a driver lets go of a turn that is switched to a mode that it does not have, and another goes on with it", async () => {
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

test("a turn in a mode that is gone goes on after a switch to one that is there", async () => {
  ran.length = 0;
  const data = new MemoryData();
  const agent = new Agent({ name: "a", model: script(asks("staging"), say("done")), tools: { deploy } });
  const before = withModes(data, ["old"], { agent });
  await before.switchMode({ modeId: "old" });
  await before.post({ content: "Go", delivery: "send" });
  const { threadId } = await next(before, "tool_approval_required");
  await before.close();
  await using h = withModes(data, ["new"], { agent });
  const told = next(h, "info");
  await h.switchThread({ threadId });
  await h.respondToToolApproval({ decision: "approve" });
  assert.match((await told).message, /no mode "old" here/);
  await assert.rejects(h.resume(), code("UNKNOWN_MODE"));
  const ended = next(h, "agent_end");
  await h.switchMode({ modeId: "new" });
  assert.equal((await ended).reason, "complete");
  assert.deepEqual(ran, ["staging"]);
});

test("what another process denies is denied in a clone and in a new thread that are made right after it", async () => {
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

test("beside a wordless no, nothing waits for a yes any more", async () => {
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

test("who switches to the default mode stays there, also when another becomes the default", async () => {
  const data = new MemoryData();
  const agent = new Agent({ name: "a", model: script(say("hi")) });
  const before = withModes(data, ["plan", "build"], { agent });
  await before.switchMode({ modeId: "plan" });
  await before.close();
  await using h = withModes(data, ["plan", "build"], { agent, defaultModeId: "build" });
  await h.selectOrCreateThread();
  assert.equal(h.getCurrentModeId(), "plan");
});

test("an id that was answered once, and comes again unanswered, was not answered", async () => {
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

test("a store that is busy for one read delays a turn that is gone on with, and does not end it", async () => {
  const data = new MemoryData();
  const { gate, started } = gated("pure");
  const model = script(call("gate"), say("done"));
  const first = await harness({ model, tools: { gate }, storage: memoryStore(data) });
  await first.post({ content: "Go", delivery: "send" });
  await started;
  const closed = first.close();
  const storage = memoryStore(data);
  const draft = storage.draft.bind(storage);
  // Once for the screen, once for who goes on.
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

test("a rule that comes in while a call is judged is held against that call", { timeout: 20_000 }, async () => {
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
