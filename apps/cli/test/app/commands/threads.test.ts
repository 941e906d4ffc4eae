import assert from "node:assert/strict";
import { test } from "node:test";
import { call, hang, say } from "@cinch/testkit";
import { commandStage, withoutTimes } from "./command-stage.ts";

test("/new, /threads and /resume go from thread to thread, and say what each thread does", async () => {
  await using stage = await commandStage([say("Hello.")]);
  const { session } = stage;
  const first = session.getCurrentThreadId()!;
  await session.sendMessage({ content: "fix the sum" });
  assert.deepEqual(await stage.run("/new"), ["This is a new thread. /resume leads back to the one before."]);
  const second = session.getCurrentThreadId()!;
  assert.notEqual(second, first);
  await session.sendMessage({ content: "write the release notes" });

  assert.deepEqual(await stage.picks({ label: "fix the sum" }).run("/threads"), []);
  assert.deepEqual(withoutTimes(stage.lists[0]!.rows), [
    "write the release notes    2 messages  this one",
    "fix the sum    2 messages",
  ]);
  assert.equal(session.getCurrentThreadId(), first);
  assert.equal(stage.threadsShown, 2);

  await stage.picks({ label: "write the release notes" }).run("/resume");
  assert.deepEqual(withoutTimes(stage.lists[1]!.rows), ["write the release notes    2 messages"]);
  assert.equal(session.getCurrentThreadId(), second);

  await stage.run(`/resume ${first}`);
  assert.equal(session.getCurrentThreadId(), first);
  assert.deepEqual(await stage.run(`/resume ${first}`), ["You are in this thread already."]);
  const unknown = await stage.run("/resume nothing");
  assert.match(unknown[0]!, /^There is no thread "nothing"/);
  assert.equal(unknown.at(-1), "/resume without an id lists the threads.");
  assert.equal(session.getCurrentThreadId(), first);
});

test("a list of threads is searched by what was said in them", async () => {
  await using stage = await commandStage([say("The loop starts at one.")]);
  await stage.session.sendMessage({ content: "fix the sum" });
  await stage.session.createThread({ title: "another" });
  await stage.picks({ label: "fix the sum", query: "loop starts" }).run("/threads");
  assert.deepEqual(withoutTimes(stage.lists[0]!.rows), ["fix the sum    2 messages"]);
});

test("a thread in a list runs, or asks the user", async () => {
  await using stage = await commandStage([call("execute", { command: "true" })]);
  const { session } = stage;
  const turn = session.sendMessage({ content: "run it" });
  await stage.until(({ pendingApproval }) => pendingApproval !== null);
  await stage.picks(null).run("/threads");
  assert.deepEqual(withoutTimes(stage.lists[0]!.rows), ["run it  asks you  2 messages  this one"]);
  await session.abort();
  await turn;
});

test("the turn of a thread that the user leaves goes on", async () => {
  await using stage = await commandStage([hang("Well")]);
  const { session } = stage;
  const left = session.getCurrentThreadId()!;
  const turn = session.sendMessage({ content: "think" });
  await stage.until(({ currentMessage }) => currentMessage !== null);
  assert.deepEqual(await stage.run("/new tidy up"), [
    'The turn in "think" goes on. /threads leads back to it.',
    "This is a new thread. /resume leads back to the one before.",
  ]);
  assert.equal(stage.context.display().title, "tidy up");
  await stage.picks({ label: "think" }).run("/threads");
  assert.deepEqual(withoutTimes(stage.lists[0]!.rows), [
    "tidy up    0 messages  this one",
    "think  running  1 message",
  ]);
  assert.equal(session.getCurrentThreadId(), left);
  assert.equal(session.getDisplayState().status, "running");
  await session.abort();
  await turn;
});

test("/rename and /clone", async () => {
  await using stage = await commandStage([say("Hello.")]);
  const { session } = stage;
  await session.sendMessage({ content: "fix the sum" });
  assert.deepEqual(await stage.run("/rename the sum, fixed"), ['The thread is now "the sum, fixed".']);
  assert.deepEqual(await stage.run("/rename"), ['The thread is now "the sum, fixed!".']);
  const before = session.getCurrentThreadId();
  assert.deepEqual(await stage.run("/clone"), [
    "This is a copy with the same messages and rules. Both threads work on the same files.",
  ]);
  assert.notEqual(session.getCurrentThreadId(), before);
  const { title, messages } = session.getDisplayState();
  assert.deepEqual([title, messages.filter(({ role }) => role !== "note").length], ["the sum, fixed! (copy)", 2]);
});
