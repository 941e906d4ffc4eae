import assert from "node:assert/strict";
import { test } from "node:test";
import { call, say } from "@cinch/testkit";
import { commandStage, withoutTimes } from "./command-stage.ts";

test("/rewind and /copy find what lies before a turn of more messages than are read at once", async () => {
  const calls = Array.from({ length: 201 }, () => call("ls", { path: "/" }));
  const steps = [call("execute", { command: "make" }), say("Made:\n\n```sh\nmake\n```"), ...calls, say("")];
  await using stage = await commandStage(steps, { flags: { yolo: true } });
  await stage.session.sendMessage({ content: "make it" });
  await stage.session.sendMessage({ content: "look around" });
  assert.deepEqual(await stage.run("/copy"), ["The last answer is in the clipboard: 5 lines."]);
  assert.deepEqual(await stage.run("/copy code"), ["Code block 1 of 1 is in the clipboard: 1 line."]);
  assert.deepEqual(await stage.run("/copy command"), ["The last command is in the clipboard: 1 line."]);
  assert.equal(stage.copied, "make");
  await stage.picks({ label: "make it", way: "c" }).run("/rewind");
  assert.deepEqual(withoutTimes(stage.lists[0]!.rows), ["look around  no files", "make it  no files"]);
});
