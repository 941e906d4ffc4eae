import assert from "node:assert/strict";
import { test } from "node:test";
import type { DurableEvent, Harness, Store } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { gated, harness, next } from "../support.ts";

/** The data of one test, which several processes open. */
export interface Shared extends AsyncDisposable {
  /** A store object of its own, not open yet. */
  store(): Store;
}

const HOUR = 3_600_000;
const REFUSED = {
  code: "STORE_NEWER",
  message: /^Event \d+ of this thread \(.*\) was written by a newer Cinch\. Upgrade Cinch/,
};

/** What a newer release may write: an event of a new type, and a known one in a new version. */
const FUTURE = {
  "a new event": { type: "weather_changed", v: 1, sky: "grey" },
  "a new version of an event": { type: "state_changed", v: 9, updates: "?" },
};

async function writeFuture(store: Store, threadId: string, future: object): Promise<number> {
  for (;;) {
    const [last] = await store.read(threadId, { last: true, limit: 1 });
    const event = { ...future, at: Date.now() } as never;
    // As the newer release, which has more for a driver to do.
    const said = { afterSeq: last!.seq, active: true, awake: true, dueAt: Date.now() + HOUR };
    if ((await store.append(threadId, [event], said)).kind === "appended") return last!.seq + 1;
  }
}

async function opened(shared: Shared): Promise<Store> {
  const store = shared.store();
  await store.open();
  return store;
}

const quiet = () => new Promise((resolve) => setTimeout(resolve, 1_500));

/** Everything that changes a thread. */
const commands = (h: Harness): Record<string, () => Promise<unknown>> => ({
  sendMessage: () => h.sendMessage({ content: "go" }),
  steer: () => h.steer({ content: "go" }),
  followUp: () => h.followUp({ content: "go", at: Date.now() + HOUR }),
  editInput: () => h.editInput({ inputId: "queued", content: "go" }),
  removeInput: () => h.removeInput({ inputId: "queued" }),
  abort: () => h.abort(),
  "abort with the inbox": () => h.abort({ inbox: true }),
  resume: () => h.resume(),
  retry: () => h.retry(),
  settled: () => h.settled(),
  renameThread: () => h.renameThread({ title: "other" }),
  switchMode: () => h.switchMode({ modeId: "default" }),
  switchModel: () => h.switchModel({ modelId: "scripted/script" }),
  setState: () => h.setState({ yolo: true }),
  setPermissionForTool: () => h.setPermissionForTool({ toolName: "x", policy: "allow" }),
  setPermissionForCategory: () => h.setPermissionForCategory({ category: "edit", policy: "allow" }),
  grantSessionTool: () => h.grantSessionTool({ toolName: "x" }),
  grantSessionCategory: () => h.grantSessionCategory({ category: "edit" }),
  respondToToolApproval: () => h.respondToToolApproval({ decision: "approve" }),
  respondToToolSuspension: () => h.respondToToolSuspension({ resumeData: 1 }),
  rewind: () => h.rewind({ toSeq: 1 }),
  cloneThread: () => h.cloneThread(),
});

/** What a release does with a thread that a newer one has written to: it shows what it knows, and leaves the rest to newer ones. */
export function testNewerRelease(share: () => Promise<Shared> | Shared): void {
  for (const [what, future] of Object.entries(FUTURE)) {
    test(`${what}: a seat shows what it knows, and refuses every command with a sentence`, async () => {
      await using shared = await share();
      const store = await opened(shared);
      await using h = await harness({ model: script(say("hello")), storage: shared.store() });
      await h.sendMessage({ content: "go" });
      const threadId = h.getCurrentThreadId()!;
      await h.followUp({ id: "queued", content: "later", at: Date.now() + HOUR });
      const before = h.getDisplayState();
      const seq = await writeFuture(store, threadId, future);
      await using old = await harness({ model: script(), storage: shared.store() });
      await old.switchThread({ threadId });
      for (const seat of [old, h]) {
        while (seat.getDisplayState().seq < seq) await next(seat, "display_state_changed");
        const { title, messages, inbox, status } = seat.getDisplayState();
        assert.deepEqual(
          { title, messages, inbox, status },
          {
            title: before.title,
            messages: before.messages,
            inbox: before.inbox,
            status: "idle",
          },
        );
        assert.equal((await seat.listMessages()).length, before.messages.length);
        assert.equal((await seat.listEvents()).length, seq);
        for (const [name, give] of Object.entries(commands(seat))) await assert.rejects(give, REFUSED, name);
      }
      assert.equal((await store.read(threadId)).length, seq, "something was written");
      const [record] = await store.threads();
      assert.equal(record?.active, true, "what the newer release said is overwritten");
    });

    test(`${what} in the middle of a turn: the call ends, nothing more begins, and the thread is free`, async () => {
      await using shared = await share();
      const store = await opened(shared);
      const { gate, started, open, runs } = gated();
      const model = script(call(["gate", {}, "a"]), call(["gate", {}, "b"]), say("done"));
      await using h = await harness({ model, tools: { gate }, storage: shared.store() });
      const turn = h.sendMessage({ content: "go" });
      turn.catch(() => undefined);
      await started;
      const threadId = h.getCurrentThreadId()!;
      const seq = await writeFuture(store, threadId, future);
      while (h.getDisplayState().seq < seq) await next(h, "display_state_changed");
      open();
      while ((await store.lease(threadId)).status !== "free") await new Promise((resolve) => setTimeout(resolve, 10));
      const written = (await store.read(threadId, { after: seq })).map(({ type }) => type);
      assert.equal(written.includes("tool_end"), true);
      for (const type of ["tool_start", "agent_end", "error", "message_end", "agent_start"])
        assert.equal(written.includes(type as DurableEvent["type"]), false, type);
      assert.deepEqual([runs.length, model.requests.length], [1, 1]);
      await quiet();
      assert.equal((await store.lease(threadId)).status, "free");
      const stranded = await store.stranded?.({ limit: 9, freeMs: 0 });
      if (stranded)
        assert.deepEqual(
          stranded.map((one) => one.threadId),
          [threadId],
          "no newer process finds it",
        );
      assert.equal((await store.read(threadId, { after: seq })).length, written.length);
    });

    test(`${what} while the model answers: the answer is kept, and its calls wait for a newer release`, async () => {
      await using shared = await share();
      const store = await opened(shared);
      const { gate, runs } = gated();
      const asked = Promise.withResolvers<void>();
      const isWritten = Promise.withResolvers<void>();
      const model = script(async function* (options) {
        asked.resolve();
        await isWritten.promise;
        yield* call("gate")(options);
      });
      await using h = await harness({ model, tools: { gate }, storage: shared.store() });
      h.sendMessage({ content: "go" }).catch(() => undefined);
      await asked.promise;
      const threadId = h.getCurrentThreadId()!;
      const seq = await writeFuture(store, threadId, future);
      while (h.getDisplayState().seq < seq) await next(h, "display_state_changed");
      isWritten.resolve();
      while ((await store.lease(threadId)).status !== "free") await new Promise((resolve) => setTimeout(resolve, 10));
      const written = (await store.read(threadId, { after: seq })).map(({ type }) => type);
      assert.deepEqual(written, ["message_end", "usage_update"]);
      assert.deepEqual(runs, []);
    });

    for (const config of [{}, { onRecover: "pause" }, { recover: "all" }] as const)
      test(`${what}: a process ${JSON.stringify(config)} neither takes over nor parks the turn`, async () => {
        await using shared = await share();
        const store = await opened(shared);
        const { gate, started } = gated();
        const first = shared.store();
        const h = await harness({ model: script(call("gate")), tools: { gate }, storage: first });
        h.sendMessage({ content: "go" }).catch(() => undefined);
        await started;
        const threadId = h.getCurrentThreadId()!;
        await h.close({ drainMs: 0 });
        const seq = await writeFuture(store, threadId, future);
        const model = script(call("gate"), say("done"));
        await using old = await harness({ model, tools: { gate }, storage: shared.store(), ...config });
        await old.switchThread({ threadId });
        await quiet();
        assert.equal((await store.read(threadId)).length, seq);
        assert.deepEqual([(await store.lease(threadId)).status, model.requests.length], ["free", 0]);
        assert.equal(old.getDisplayState().status, "running");
      });
  }
}
