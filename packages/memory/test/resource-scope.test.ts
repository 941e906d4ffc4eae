import assert from "node:assert/strict";
import { test } from "node:test";
import type { Harness, Store } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import type { ScriptedModel } from "@cinch/testkit";
import { observationalMemory } from "@cinch/memory";
import { answer, simulated, stepsOf, worker } from "./simulation.ts";

const memory = observationalMemory({ messageTokens: 4_000, observationTokens: 40_000, scope: "resource" });

/** What the newest head of the agent says. */
function headOf(model: ScriptedModel): string {
  const [head] = stepsOf(model).at(-1)!.prompt;
  return head?.role === "system" ? head.content : "";
}

async function hello(harness: Harness, model: ScriptedModel): Promise<string> {
  await harness.createThread({});
  await harness.sendMessage({ content: "Hello." });
  return headOf(model);
}

const sharedIn = async (store: Store): Promise<{ of: string | undefined; from: number; blob: string | undefined }[]> =>
  (await store.read("memory:default")).flatMap((event) =>
    event.type === "om_observation_end" ? [{ of: event.of, from: event.range[0], blob: event.blob }] : [],
  );

/** Each observation is another text. */
function numbered(): () => ReturnType<typeof answer> {
  let n = 0;
  return () => answer(`- Observation ${++n}.`);
}

test("what a deleted thread observed is not in new heads any more", async () => {
  const model = worker(120, { observer: () => answer("- The user likes tabs.") });
  await using simulation = await simulated(model, { memory, patient: true });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const threadId = harness.getCurrentThreadId()!;
  assert.match(await hello(harness, model), /likes tabs/);
  await harness.deleteThread({ threadId });
  assert.doesNotMatch(await hello(harness, model), /likes tabs/);
});

test("a clone does not share again what it inherited", async () => {
  const store = new MemoryStore(new MemoryData());
  let steps = 30;
  const model = worker(0, {
    observer: numbered(),
    agent: (_, at) => (steps-- > 0 ? answer("I look.", { name: "look", input: { at }, id: `c${steps}` }) : undefined),
  });
  await using simulation = await simulated(model, { memory, storage: store, patient: true });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  await harness.cloneThread({});
  steps = 30;
  await harness.sendMessage({ content: "Look on." });
  const blobs = (await sharedIn(store)).map(({ blob }) => blob);
  assert.ok(blobs.length > 4);
  assert.equal(new Set(blobs).size, blobs.length);
});

test("each observation is shared once, also when the shared memory has forgotten the first ones", async () => {
  const store = new MemoryStore(new MemoryData());
  const model = worker(200, { observer: numbered() });
  const frequent = observationalMemory({ messageTokens: 1_000, observationTokens: 40_000, scope: "resource" });
  await using simulation = await simulated(model, { memory: frequent, storage: store, patient: true });
  await simulation.harness.sendMessage({ content: "Look." });
  const froms = (await sharedIn(store)).map(({ from }) => from);
  assert.ok(froms.length > 110, `${froms.length} observations`);
  assert.equal(new Set(froms).size, froms.length);
});

test("a turn begins although the shared memory can't be read, and says so", async () => {
  class Broken extends MemoryStore {
    override async thread(threadId: string) {
      if (threadId.startsWith("memory:")) throw new Error("out of order");
      return super.thread(threadId);
    }
  }
  const model = worker(120);
  await using simulation = await simulated(model, { memory, storage: new Broken(new MemoryData()) });
  assert.equal((await simulation.harness.sendMessage({ content: "Look." })).reason, "complete");
  const infos = simulation.seen.flatMap((event) => (event.type === "info" ? [event.message] : []));
  assert.ok(infos.some((message) => /could not be read: out of order/.test(message)));
  assert.ok(infos.some((message) => /could not be shared: out of order/.test(message)));
});

test("nothing of another resource is in a head", async () => {
  const model = worker(120, { observer: () => answer("- The user likes tabs.") });
  await using simulation = await simulated(model, { memory, patient: true });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Look." });
  const other = await harness.createSession({ resourceId: "other" });
  await other.sendMessage({ content: "Hello." });
  assert.doesNotMatch(headOf(model), /likes tabs/);
});

test("explainContext() counts what other threads observed as memory, and not as instructions", async () => {
  const model = worker(120, { observer: () => answer(`- The user likes tabs. ${"A fact. ".repeat(200)}`) });
  await using simulation = await simulated(model, { memory, patient: true });
  const { harness } = simulation;
  await harness.createThread({});
  await harness.sendMessage({ content: "Look." });
  assert.match(await hello(harness, model), /likes tabs/);
  const { parts } = await harness.explainContext();
  assert.ok(parts.memory > 100, `memory: ${parts.memory}`);
  assert.ok(parts.instructions < 20, `instructions: ${parts.instructions}`);
});
