import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { localWorkspace } from "@cinch/workspace";
import { folder } from "../../shells/shell-support.ts";
import { commandDesk } from "./command-desk.ts";

test("the display has the end of what a command has printed while it runs, and nothing of it afterwards", async () => {
  using root = folder();
  const { harness } = await commandDesk(localWorkspace({ root: root.path, sandbox: "none" }));
  try {
    const command = "seq 1 20000; printf 'waiting'; until [ -e go ]; do sleep 0.05; done";
    const turn = harness.sendMessage({ content: JSON.stringify([["execute", { command }]]) });
    const output = () => harness.getDisplayState().activeTools["c0"]?.output ?? "";
    while (!output().endsWith("waiting")) await pause(10);
    assert.equal(output().length, 8_000);
    assert.match(output(), /\n19999\n20000\nwaiting$/);
    writeFileSync(join(root.path, "go"), "");
    assert.equal((await turn).reason, "complete");
    assert.deepEqual(harness.getDisplayState().activeTools, {});
  } finally {
    await harness.close();
  }
});
