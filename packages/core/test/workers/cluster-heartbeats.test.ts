import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, memoryStore, type Heartbeat } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { script } from "@cinch/testkit";
import { countingClock } from "../counting-clock.ts";
import { harness } from "../support.ts";
import { wrapped } from "../wrapped-store.ts";
import { eventually } from "./team.ts";

const beating = (beats: string[], name: string, more: Partial<Heartbeat> = {}): Heartbeat => ({
  id: "tidy",
  intervalMs: 10,
  scope: "cluster",
  handler: () => void beats.push(name),
  ...more,
});

const counted = (beats: readonly string[], name: string) => beats.filter((one) => one === name).length;

test("a heartbeat of the cluster beats in one process, and goes on in another one when that one dies or closes", async () => {
  const data = new MemoryData();
  const beats: string[] = [];
  const make = async (name: string) => {
    const store = memoryStore(data);
    const h = await harness({ model: script(), storage: store, heartbeats: [beating(beats, name)] });
    return { store, h };
  };
  const first = await make("first");
  await eventually(() => beats.length >= 3);
  const second = await make("second");
  const third = await make("third");
  await eventually(() => beats.length >= 10);
  assert.deepEqual([...new Set(beats)], ["first"]);
  first.store.die();
  await eventually(() => new Set(beats).size === 2);
  const [heir, other] = beats.includes("second") ? [second, "third"] : [third, "second"];
  const died = counted(beats, "first");
  await eventually(() => beats.length >= died + 5);
  assert.deepEqual([counted(beats, "first"), counted(beats, other)], [died, 0]);
  await heir.h.close();
  await eventually(() => beats.includes(other));
  await Promise.all([first, second, third].map(({ h }) => h.close().catch(() => undefined)));
  assert.deepEqual((await (await harness({ model: script(), storage: memoryStore(data) })).listThreads()).length, 0);
});

test("a heartbeat of the cluster that is removed, or replaced, beats on in another process", async () => {
  const data = new MemoryData();
  const beats: string[] = [];
  const make = (name: string) =>
    harness({ model: script(), storage: memoryStore(data), heartbeats: [beating(beats, name, { immediate: true })] });
  await using a = await make("a");
  await eventually(() => beats.includes("a"));
  await using b = await make("b");
  await a.removeHeartbeat({ id: "tidy" });
  await eventually(() => beats.includes("b"));
  const before = counted(beats, "a");
  await b.registerHeartbeat(beating(beats, "new b"));
  await eventually(() => beats.includes("new b"));
  assert.equal(counted(beats, "a"), before);
});

test("a process that was stopped beats no more when it has lost the lease", async () => {
  const data = new MemoryData();
  const beats: string[] = [];
  const store = memoryStore(data);
  await using h = await harness({ model: script(), storage: store, heartbeats: [beating(beats, "stopped")] });
  await eventually(() => beats.length >= 3);
  const threadId = [...data.leases.keys()].find((id) => id.startsWith("heartbeat:"))!;
  const lease = data.leases.get(threadId)!;
  data.leases.set(threadId, { epoch: lease.epoch + 1, holder: memoryStore(data) });
  const before = beats.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(beats.length <= before + 1);
  assert.equal(h.getDisplayState().status, "idle");
});

test("a heartbeat of the cluster whose harness is closed at once leaves no timer", async () => {
  const clock = countingClock();
  const hourly = { intervalMs: 3_600_000 };
  const h = await harness({ model: script(), clock, heartbeats: [beating([], "a", hourly)] });
  await h.close();
  assert.equal(clock.pending.size, 0);
});

test("a heartbeat of the cluster that is removed while the store is away beats in another process when the store is back", async () => {
  const data = new MemoryData();
  const beats: string[] = [];
  let failures = 1;
  const away = async (method: string) => {
    if (method === "release" && failures-- > 0) throw new CinchError("STORE_BUSY", "The database does not answer.");
  };
  const make = (name: string, storage: MemoryStore) =>
    harness({ model: script(), storage, heartbeats: [beating(beats, name)] });
  await using a = await make("a", wrapped(memoryStore(data), away));
  await eventually(() => beats.includes("a"));
  await using b = await make("b", memoryStore(data));
  assert.deepEqual(await b.listThreads(), []);
  await a.removeHeartbeat({ id: "tidy" });
  assert.equal(failures, 0);
  await eventually(() => beats.includes("b"));
});

test("a heartbeat of the cluster beats, also if the answer to the append that took its lease was lost", async () => {
  const beats: string[] = [];
  let appends = 0;
  const lost = async (method: string) => {
    // The first one creates its thread.
    if (method === "append" && ++appends === 2) throw new CinchError("STORE_FAILED", "The answer was lost.");
  };
  const storage = wrapped(memoryStore(), () => undefined, lost);
  await using h = await harness({ model: script(), storage, heartbeats: [beating(beats, "a")] });
  await eventually(() => beats.length > 0);
  assert.equal(appends, 2);
  assert.deepEqual(await h.listThreads(), []);
});

test("a lease of the cluster whose taking lost its answer is released when its heartbeat is removed", async () => {
  const data = new MemoryData();
  const beats: string[] = [];
  let appends = 0;
  const lost = async (method: string) => {
    if (method === "append" && ++appends === 2) throw new CinchError("STORE_FAILED", "The answer was lost.");
  };
  const make = (name: string, storage: MemoryStore) =>
    harness({ model: script(), storage, heartbeats: [beating(beats, name)] });
  await using a = await make(
    "a",
    wrapped(memoryStore(data), () => undefined, lost),
  );
  await eventually(() => appends === 2);
  await a.removeHeartbeat({ id: "tidy" });
  await using b = await make("b", memoryStore(data));
  await eventually(() => beats.includes("b"));
  assert.deepEqual([await b.listThreads(), counted(beats, "a")], [[], 0]);
});

test("a harness that closes leaves no timer, also if the lease of its heartbeat could not be released", async () => {
  const clock = countingClock();
  const beats: string[] = [];
  const away = async (method: string) => {
    if (method === "release") throw new CinchError("STORE_FAILED", "The disk has an error.");
  };
  const storage = wrapped(memoryStore(), away);
  const h = await harness({ model: script(), clock, storage, heartbeats: [beating(beats, "a")] });
  await eventually(() => beats.length > 0);
  await h.close();
  assert.equal(clock.pending.size, 0);
});

test("a heartbeat of the cluster that is replaced while it tries for the lease leaves the lease of the new one alone", async () => {
  const data = new MemoryData();
  const tries: string[] = [];
  const released: string[] = [];
  const isLate = Promise.withResolvers<void>();
  class Slow extends MemoryStore {
    override async append(...args: Parameters<MemoryStore["append"]>) {
      const isTry = args[0].startsWith("heartbeat:") && args[2].take !== undefined;
      if (isTry && tries.push(args[0]) === 1) await isLate.promise;
      return super.append(...args);
    }
    override async release(...args: Parameters<MemoryStore["release"]>) {
      released.push(args[0]);
      return super.release(...args);
    }
  }
  const beats: string[] = [];
  await using h = await harness({ model: script(), storage: new Slow(data) });
  const replaced = h.registerHeartbeat(beating(beats, "old"));
  const replacing = h.registerHeartbeat(beating(beats, "new"));
  await eventually(() => beats.includes("new"));
  isLate.resolve();
  await Promise.all([replaced, replacing]);
  const before = beats.length;
  await eventually(() => beats.length > before + 3);
  assert.deepEqual([released, counted(beats, "old")], [[], 0]);
});
