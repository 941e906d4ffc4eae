/** What is looked at right before a tool of a subagent runs: the lease and the abort, after the rules of the threads above. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, CinchError, Harness, type Store } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, scriptedBy } from "@cinch/testkit";
import { noting, permissions } from "../support.ts";

/** The journals of all other threads can't be read from the moment on in which the call of a subagent has started. */
class StoreOfStartedCall extends MemoryStore {
  readonly started = Promise.withResolvers<string>();
  readonly back = Promise.withResolvers<void>();
  #childId: string | undefined;

  override async read(...[threadId, range]: Parameters<Store["read"]>): ReturnType<Store["read"]> {
    if (this.#childId !== undefined && threadId !== this.#childId) {
      await this.back.promise;
      this.#childId = undefined;
      throw new CinchError("STORE_BUSY", "The database does not answer.");
    }
    return super.read(threadId, range);
  }

  override async append(...[threadId, events, options]: Parameters<Store["append"]>): ReturnType<Store["append"]> {
    const result = await super.append(threadId, events, options);
    if (events.some((event) => event.type === "tool_start" && event["toolName"] === "note")) {
      this.#childId = threadId;
      this.started.resolve(threadId);
    }
    return result;
  }
}

/** A thread whose subagent is about to run a tool, and waits for the rules of the thread above. */
async function aboutToRun() {
  const data = new MemoryData();
  const store = new StoreOfStartedCall(data);
  const { note, runs } = noting();
  const model = scriptedBy(({ prompt }) => {
    if (prompt.at(-1)?.role === "tool") return say("Done.");
    return JSON.stringify(prompt).includes("use it")
      ? call("note", { what: "x" })
      : call("task", { agent: "sub", prompt: "use it" });
  });
  const sub = new Agent({ name: "sub", model, tools: { note } });
  const agent = new Agent({ name: "top", model, subagents: [sub] });
  const h = new Harness({ id: "test", agent, storage: store, permissions });
  const turn = h.sendMessage({ content: "go" });
  turn.catch(() => undefined);
  const childId = await store.started.promise;
  return { data, store, runs, h, turn, childId };
}

test("a tool of a subagent does not run if another process has taken over while the rules above were read", async () => {
  const { data, store, runs, h, childId } = await aboutToRun();
  // For longer than a driver trusts its last append.
  await pause(2_100);
  const other = new MemoryStore(data);
  await other.open();
  const lease = data.leases.get(childId)!;
  data.leases.set(childId, { ...lease, epoch: lease.epoch + 1, holder: other });
  store.back.resolve();
  await pause(1_000);
  assert.deepEqual(runs, []);
  await h.close();
});

test("a tool of a subagent does not run if it was aborted while the rules above were read", async () => {
  const { store, runs, h, turn } = await aboutToRun();
  const aborted = h.abort();
  await pause(200);
  store.back.resolve();
  await aborted;
  assert.deepEqual([(await turn).reason, runs], ["aborted", []]);
  await h.close();
});
