import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Harness, memoryStore, type Placement, type Store, type Workspace } from "@cinch/core";
import { say, script } from "@cinch/testkit";

/** A store that can be opened once, as those on disks and servers. `opened` is awaited by each `open`. */
function strictStore(opened: Promise<void> = Promise.resolve()) {
  const calls: string[] = [];
  const store = memoryStore();
  const open = async () => {
    if (calls.includes("open")) throw new Error("The store is already open.");
    calls.push("open");
    await opened;
    await store.open();
    calls.push("opened");
  };
  const close = async () => {
    calls.push("close");
    await store.close();
  };
  const strict = new Proxy<Store>(store, {
    get: (target, name) => {
      const value = { open, close }[name as string] ?? (Reflect.get(target, name) as unknown);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
  return { calls, store: strict };
}

const agent = () => new Agent({ name: "a", model: script(say("Hello.")) });

function placement(calls: string[], open: () => Promise<void>): Placement {
  const note = (call: string) => async () => void calls.push(call);
  return { open, serve: note("serve"), wake: note("wake"), drain: note("drain"), close: note("close") };
}

test("an init that failed goes on where it stopped, and opens nothing twice", async () => {
  const { calls, store } = strictStore();
  const failures = { placement: 1, workspace: 1 };
  const failing = (what: keyof typeof failures) => async () => {
    if (failures[what]-- > 0) throw new Error(`The ${what} is away.`);
    calls.push(what);
    return { root: "/" };
  };
  const workspace = { tools: {}, open: failing("workspace"), close: async () => undefined, shared: true };
  const h = new Harness({
    id: "t",
    agent: agent(),
    storage: store,
    placement: placement(calls, async () => void (await failing("placement")())),
    worker: {},
    workspace: workspace as unknown as Workspace,
  });
  await assert.rejects(h.init(), /placement is away/);
  await assert.rejects(h.init(), /workspace is away/);
  assert.equal((await h.sendMessage({ content: "Hi" })).reason, "complete");
  assert.deepEqual(
    calls.filter((one) => one !== "wake"),
    ["open", "opened", "placement", "workspace", "serve"],
  );
  await h.close();
});

test("a harness that is closed while it opens leaves nothing open, and starts no worker", async () => {
  const opened = Promise.withResolvers<void>();
  const { calls, store } = strictStore(opened.promise);
  const h = new Harness({
    id: "t",
    agent: agent(),
    storage: store,
    placement: placement(calls, async () => void calls.push("placement")),
    worker: {},
  });
  const both = Promise.allSettled([h.init(), h.close()]);
  await pause(10);
  opened.resolve();
  await both;
  assert.deepEqual(calls, ["open", "opened", "close"]);
});
