import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CinchError, Session } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { harness, noting } from "../support.ts";

const talkative = () => scriptedBy(() => say("yes"));

/** Every way in which a caller names a thread. */
const ways: Record<string, (session: Session, threadId: string) => Promise<unknown>> = {
  "switchThread({ threadId })": (session, threadId) => session.switchThread({ threadId }),
  "deleteThread({ threadId })": (session, threadId) => session.deleteThread({ threadId }),
  "cloneThread({ sourceThreadId })": (session, sourceThreadId) => session.cloneThread({ sourceThreadId }),
  "cloneThread({ sourceThreadId, atSeq })": (session, sourceThreadId) =>
    session.cloneThread({ sourceThreadId, atSeq: 1, id: "chosen" }),
  "respondToToolApproval({ threadId })": (session, threadId) =>
    session.respondToToolApproval({ threadId, decision: "approve" }),
  "respondToToolSuspension({ threadId })": (session, threadId) =>
    session.respondToToolSuspension({ threadId, resumeData: null }),
  "listThreads({ parentId })": (session, parentId) => session.listThreads({ parentId }),
  "listThreads({ before })": (session, before) => session.listThreads({ before }),
};

/** What a caller sees of a call, without the id that the caller passed. */
async function seen(work: Promise<unknown>, threadId: string): Promise<unknown> {
  try {
    return JSON.stringify(await work).replaceAll(threadId, "ID");
  } catch (error) {
    const { code, message, name, cause } = error as CinchError;
    return { code, message: message.replaceAll(threadId, "ID"), name, cause };
  }
}

describe("for a confined session, a thread of another resource is one that does not exist", () => {
  for (const [way, go] of Object.entries(ways)) {
    test(way, async () => {
      await using h = await harness({ model: talkative() });
      const mine = await h.createSession({ resourceId: "ada", confined: true });
      await mine.createThread({ title: "mine" });
      const theirs = await h.createSession({ resourceId: "bob" });
      const { id: foreign } = await theirs.createThread({ title: "secret" });
      await theirs.cloneThread();
      await theirs.switchThread({ threadId: foreign });
      const before = await theirs.listThreads();
      assert.deepEqual(await seen(go(mine, foreign), foreign), await seen(go(mine, "absent"), "absent"));
      assert.deepEqual(await theirs.listThreads(), before);
      assert.equal(mine.getDisplayState().title, "mine");
    });
  }

  test("createSession({ threadId })", async () => {
    await using h = await harness({ model: talkative() });
    const { id: foreign } = await (await h.createSession({ resourceId: "bob" })).createThread();
    const enter = (threadId: string) => h.createSession({ threadId, resourceId: "ada", confined: true });
    assert.deepEqual(await seen(enter(foreign), foreign), await seen(enter("absent"), "absent"));
  });

  test("listThreads({ resourceId })", async () => {
    await using h = await harness({ model: talkative() });
    await (await h.createSession({ resourceId: "bob" })).createThread({ title: "secret" });
    const mine = await h.createSession({ resourceId: "ada", confined: true });
    assert.deepEqual(await mine.listThreads({ resourceId: "bob" }), []);
    assert.deepEqual(await mine.listThreads({ resourceId: "bob", query: "secret" }), []);
    assert.deepEqual(await mine.listThreads({ query: "secret" }), []);
  });
});

test("a confined session uses the threads of its resource as any other session does", async () => {
  const { note } = noting();
  const model = script(call("note", { what: "x" }), say("done"));
  await using h = await harness({ model, tools: { note }, permissions: [] });
  const own = await h.createSession({ resourceId: "ada" });
  const { id: threadId } = await own.createThread({ title: "own" });
  const mine = await h.createSession({ threadId, resourceId: "ada", confined: true });
  const done = mine.sendMessage({ content: "go" });
  await mine.settled();
  await mine.respondToToolApproval({ threadId, decision: "approve" });
  assert.equal((await done).reason, "complete");
  const clone = await mine.cloneThread({ sourceThreadId: threadId });
  assert.deepEqual(
    (await mine.listThreads()).map(({ id }) => id),
    [clone.id, threadId],
  );
  await mine.deleteThread({ threadId });
  assert.deepEqual(
    (await mine.listThreads()).map(({ id }) => id),
    [clone.id],
  );
});

test("a confined session without a thread selects one of its own resource, or creates one there", async () => {
  await using h = await harness({ model: talkative() });
  await (await h.createSession({ resourceId: "bob" })).createThread();
  const mine = await h.createSession({ resourceId: "ada", confined: true });
  await mine.sendMessage({ content: "hello" });
  assert.deepEqual(
    (await mine.listThreads()).map(({ resourceId }) => resourceId),
    ["ada"],
  );
});

describe("a thread id that the caller chose", () => {
  test("creates one thread, however often it is sent, and from however many processes", async () => {
    const data = new MemoryData();
    await using here = await harness({ model: talkative(), storage: new MemoryStore(data) });
    await using there = await harness({ model: talkative(), storage: new MemoryStore(data) });
    const metadata = { project: "x", tags: ["a"] };
    const create = { id: "chat_1", title: "Once", metadata };
    const threads = await Promise.all([here.createThread(create), there.createThread(create)]);
    const again = await here.createThread({ id: "chat_1", title: "Another title", metadata: {} });
    for (const thread of [...threads, again])
      assert.deepEqual({ ...thread }, { ...threads[0], id: "chat_1", title: "Once", metadata });
    assert.equal((await here.listThreads()).length, 1);
    assert.equal(here.getCurrentThreadId(), "chat_1");
    assert.deepEqual(here.getDisplayState().seq, there.getDisplayState().seq);
  });

  test("makes one clone, also after its source has changed or is deleted", async () => {
    await using h = await harness({ model: talkative() });
    const { id: sourceThreadId } = await h.createThread({ title: "source" });
    const clone = await h.cloneThread({ sourceThreadId, id: "copy" });
    await h.switchThread({ threadId: sourceThreadId });
    await h.sendMessage({ content: "more" });
    assert.deepEqual(await h.cloneThread({ sourceThreadId, id: "copy", title: "other" }), clone);
    await h.deleteThread({ threadId: sourceThreadId });
    assert.deepEqual(await h.cloneThread({ sourceThreadId, id: "copy" }), clone);
    assert.deepEqual(
      (await h.listThreads()).map(({ id }) => id),
      ["copy"],
    );
  });

  test("is refused if it is in use elsewhere, with no word about where", async () => {
    await using h = await harness({ model: talkative() });
    const theirs = await h.createSession({ resourceId: "bob" });
    await theirs.createThread({ id: "taken", title: "secret" });
    await theirs.createThread({ id: "gone" });
    await theirs.deleteThread({ threadId: "gone" });
    const mine = await h.createSession({ resourceId: "ada", confined: true });
    await mine.createThread({ title: "mine" });
    const taken = { code: "THREAD_EXISTS", message: 'The thread id "taken" is in use. Choose another one.' };
    const gone = { code: "THREAD_EXISTS", message: 'The thread id "gone" is in use. Choose another one.' };
    await assert.rejects(mine.createThread({ id: "taken" }), taken);
    await assert.rejects(mine.cloneThread({ id: "taken" }), taken);
    await assert.rejects(mine.createThread({ id: "gone" }), gone);
    await assert.rejects(mine.cloneThread({ id: "gone" }), gone);
    assert.equal(mine.getDisplayState().title, "mine");
  });

  test("is INVALID_INPUT if a path or a store could misread it", async () => {
    await using h = await harness({ model: talkative() });
    await h.createThread();
    for (const id of ["", "a/b", "..", "a b", "é", "files:ada", "a\n", "x".repeat(129)]) {
      await assert.rejects(h.createThread({ id }), { code: "INVALID_INPUT" }, id);
      await assert.rejects(h.cloneThread({ id }), { code: "INVALID_INPUT" }, id);
    }
  });
});

test("metadata that is no JSON object, or too long, is INVALID_INPUT", async () => {
  await using h = await harness({ model: talkative() });
  const wrong: unknown[] = [[], "x", { at: 1n }, { text: "x".repeat(16_000) }];
  for (const metadata of wrong)
    await assert.rejects(h.createThread({ metadata: metadata as never }), { code: "INVALID_INPUT" });
});
