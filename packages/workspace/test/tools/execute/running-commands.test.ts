import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { localWorkspace } from "@cinch/workspace";
import { commandDesk } from "./command-desk.ts";
import { folder } from "../../shells/shell-support.ts";

test("a program sees which commands run in the background with what they printed, and stops one of them", async () => {
  using place = folder();
  using root = folder();
  const workspace = localWorkspace({ root: root.path, sandbox: "none", cache: join(place.path, "outputs") });
  const desk = await commandDesk(workspace);
  try {
    const first = await desk.start("echo ready; read x");
    const second = await desk.start("read y");
    while (!workspace.backgroundCommands()[0]?.output.includes("ready")) await sleep(20);
    const threadId = desk.harness.getCurrentThreadId()!;
    const shown = () => workspace.backgroundCommands().map(({ startedAt: _startedAt, ...rest }) => rest);
    assert.deepEqual(shown(), [
      { threadId, id: first, command: "echo ready; read x", output: "ready\n" },
      { threadId, id: second, command: "read y", output: "" },
    ]);
    await workspace.stopCommand({ threadId, id: first });
    await workspace.stopCommand({ threadId, id: "cmd-0" });
    assert.deepEqual(
      shown().map(({ id }) => id),
      [second],
    );
  } finally {
    await desk.harness.close();
  }
  assert.deepEqual(workspace.backgroundCommands(), []);
});
