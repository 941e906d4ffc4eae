import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Harness, type Json, type PathRule, type Workspace } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { createWorkspace, localWorkspace, memoryBackend, threadBackend } from "@cinch/workspace";
import { folder } from "../../shells/shell-support.ts";

type Call = [string, Record<string, unknown>];

/** What the questions of these calls show, each in a step of its own, and what their results say after an approval. */
async function asked(workspace: Workspace, calls: Call[], permissions: PathRule[] = []) {
  const model = script(...calls.map(([name, args]) => call(name, args)), say("done"));
  const agent = new Agent({ name: "tester", model, permissions });
  const harness = new Harness({ id: "test", agent, workspace });
  const previews: Json[] = [];
  const diffs: unknown[] = [];
  harness.subscribe((event) => {
    if (event.type === "tool_end") diffs.push((event.result.details as { diff?: string } | undefined)?.diff ?? null);
    if (event.type !== "tool_approval_required") return;
    previews.push(event.preview ?? null);
    harness.respondToToolApproval({ toolCallId: event.toolCallId, decision: "approve" }).catch(assert.ifError);
  });
  try {
    const { reason } = await harness.sendMessage({ content: "go" });
    assert.equal(reason, "complete");
  } finally {
    await harness.close();
  }
  return { previews, diffs };
}

const write = (file_path: string, content: string): Call => ["write_file", { file_path, content }];
const edit = (old_string: string, new_string: string): Call => [
  "edit_file",
  { file_path: "a.txt", old_string, new_string },
];

for (const [what, backend] of Object.entries({ memoryBackend, threadBackend }))
  test(`the approval of a write or an edit shows the diff that the result has, in a ${what}`, async () => {
    const { previews, diffs } = await asked(createWorkspace({ backend: backend() }), [
      write("a.txt", "one\ntwo\n"),
      edit("two", "2"),
      write("a.txt", "1\n2\n"),
    ]);
    assert.deepEqual(
      previews,
      [
        "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n 2\n",
      ].map((diff) => ({ diff })),
    );
    assert.deepEqual(
      diffs,
      previews.map((preview) => (preview as { diff: string }).diff),
    );
  });

test("a call that would change nothing asks without a diff", async () => {
  const { previews } = await asked(createWorkspace({ backend: memoryBackend() }), [
    write("a.txt", "one\n"),
    edit("missing", "2"),
    edit("one", "one"),
    write("a.txt", "one\n"),
    write("b.txt/", "x"),
  ]);
  assert.deepEqual(previews.slice(1, 4), [null, null, null]);
});

/** "/open/link" is a link to what the rules deny. */
function project() {
  const root = folder();
  for (const path of ["secret", "open"]) mkdirSync(join(root.path, path));
  writeFileSync(join(root.path, "secret/key"), "KEY\n");
  symlinkSync("../secret/key", join(root.path, "open/link"));
  return root;
}

const unread: PathRule[] = [{ operations: ["read"], paths: ["/secret/**"], mode: "deny" }];
const attempts = ["secret/key", "/open/link", "open/../secret/key", "SECRET/key"].map((path) => write(path, "x\n"));

test("what no rule denies is in the preview", async () => {
  using root = project();
  const { previews } = await asked(localWorkspace({ root: root.path, sandbox: "none" }), attempts.slice(0, 2));
  for (const preview of previews) assert.match(JSON.stringify(preview), /-KEY/);
});

test("a preview shows nothing that the rules of the workspace keep from the agent", async () => {
  using root = project();
  const workspace = localWorkspace({ root: root.path, sandbox: "none", permissions: unread });
  const { previews } = await asked(workspace, attempts);
  assert.doesNotMatch(JSON.stringify(previews), /KEY/);
});

test("a preview shows nothing that the rules of the agent keep from it", async () => {
  using root = project();
  const { previews } = await asked(localWorkspace({ root: root.path, sandbox: "none" }), attempts, unread);
  assert.ok(previews.length > 0);
  assert.doesNotMatch(JSON.stringify(previews), /KEY/);
});
