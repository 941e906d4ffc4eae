import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./ends-waiting.ts", import.meta.url));

function run(how: string): Promise<{ stderr: string; code: unknown }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["-C", "@cinch/source", program, how], (error, _, stderr) => {
      resolve({ stderr, code: error?.code ?? 0 });
    });
  });
}

test("a process that exits while calls wait prints which calls wait, and how to answer them", async () => {
  const { stderr, code } = await run("wait");
  const said = stderr.split("\n").filter((line) => line.startsWith("cinch: "));
  assert.equal(said.length, 2, stderr);
  assert.match(
    said[0]!,
    /note\(\{"what":"it"\}\) waits for an approval.*respondToToolApproval\(\{ threadId: "thread_\w+", toolCallId: "a", decision: "approve" \}\)/,
  );
  assert.match(
    said[1]!,
    /ask_user\(.*"Which\?".*\) waits for an answer.*respondToToolSuspension\(\{ .*toolCallId: "b"/,
  );
  assert.notEqual(code, 0);
});

test("a process that has closed its harness prints nothing when it exits", async () => {
  assert.deepEqual(await run("close"), { stderr: "", code: 0 });
});
