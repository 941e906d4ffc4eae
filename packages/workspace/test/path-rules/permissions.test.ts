import assert from "node:assert/strict";
import { test } from "node:test";
import type { DurableEvent } from "@cinch/core";
import { fileDesk, pathRules, pending, type Args, type FileDesk } from "../tools/file-desk.ts";

const last = (d: FileDesk): DurableEvent<"tool_end"> => d.events.findLast((event) => event.type === "tool_end")!;
const write = (file_path: string, content = "x"): [string, Args] => ["write_file", { file_path, content }];

test("reading does not ask, and changing files does", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "a" }, permissions: [] });
  for (const call of [
    ["ls"],
    ["read_file", { file_path: "a.txt" }],
    ["glob", { pattern: "*" }],
    ["grep", { pattern: "a" }],
  ])
    await d.ok(...(call as [string, Args]));
  for (const call of [
    write("a.txt"),
    ["edit_file", { file_path: "a.txt", old_string: "x", new_string: "y" }],
    ["delete", { file_path: "a.txt" }],
  ] as [string, Args][]) {
    const turn = d.send(call);
    assert.equal((await pending(d)).toolName, call[0]);
    await d.harness.respondToToolApproval({ decision: "approve" });
    await turn;
    assert.equal(last(d).isError, false, String(last(d).result.content));
  }
  assert.equal(d.backend.files.size, 0);
});

test("an approval offers a grant for the folder, and calls in a granted folder do not ask", async () => {
  await using d = await fileDesk({ permissions: [] });
  const turn = d.send(write("src/lib/a.ts"));
  const { suggestion, decisions } = await pending(d);
  assert.equal(suggestion, "/src/lib/**");
  assert.ok(decisions.includes("always_allow_tool"));
  await d.harness.respondToToolApproval({ decision: "always_allow_tool" });
  await turn;
  assert.deepEqual(d.harness.getSessionGrants(), [{ toolName: "write_file", match: "/src/lib/**", policy: "allow" }]);
  await d.ok(...write("src/lib/deep/b.ts"));
  const other = d.send(write("src/c.ts"));
  assert.equal((await pending(d)).toolName, "write_file");
  await d.harness.respondToToolApproval({ decision: "decline", message: "no" });
  await other;
  assert.deepEqual([...d.backend.files.keys()], ["/src/lib/a.ts", "/src/lib/deep/b.ts"]);
});

test("no pattern is suggested for the root, so that everything is not allowed by accident", async () => {
  await using d = await fileDesk({ files: { "/a": "" }, permissions: [{ category: "read", policy: "ask" }] });
  const turn = d.send(["grep", { pattern: "x" }]);
  const { suggestion, decisions } = await pending(d);
  assert.equal(suggestion ?? null, null);
  assert.ok(!decisions.includes("always_allow_tool"));
  await d.harness.respondToToolApproval({ decision: "approve" });
  await turn;
});

test("a path rule that denies applies to every tool that touches the path, even under YOLO", async () => {
  const rules = pathRules(["read", "/**/.env", "deny"], ["write", "/**/.env", "deny"], ["write", "/locked/**", "deny"]);
  await using d = await fileDesk({ files: { "/app/.env": "KEY=1", "/locked/a.txt": "x" }, rules });
  await d.harness.setState({ yolo: true });
  const env = { file_path: "/app/.env" };
  for (const call of [
    ["read_file", env],
    ["read_file", { file_path: "app//x/../.env" }],
    ["write_file", { ...env, content: "" }],
    ["edit_file", { ...env, old_string: "1", new_string: "2" }],
    ["delete", env],
    ["grep", { pattern: "KEY", path: "/app/.env" }],
    ["delete", { file_path: "locked/a.txt" }],
    ["edit_file", { file_path: "locked/a.txt", old_string: "x", new_string: "y" }],
  ] as [string, Args][])
    assert.match(await d.fails(...call), /^Denied: a rule forbids this call/, JSON.stringify(call));
  assert.match(
    await d.fails("delete", { file_path: "app" }),
    /^app holds 1 file that a rule protects\. Nothing was deleted/,
  );
  assert.equal(await d.ok("grep", { pattern: "KEY" }), "Nothing matches KEY.");
  assert.equal(d.backend.text("/app/.env"), "KEY=1");
  assert.equal(d.backend.text("/locked/a.txt"), "x");
});

test("a path rule overrides the default: it lets a write run, or makes a read ask", async () => {
  const rules = pathRules(["write", "/tmp/**", "allow"], ["read", "/private/**", "ask"]);
  await using d = await fileDesk({ files: { "/private/a.txt": "a", "/tmp/a.txt": "a" }, rules, permissions: [] });
  await d.ok(...write("tmp/b.txt"));
  const turn = d.send(["read_file", { file_path: "private/a.txt" }]);
  await pending(d);
  await d.harness.respondToToolApproval({ decision: "approve" });
  await turn;
  assert.equal(last(d).isError, false);
});

test("a rule that allows reading does not allow editing, and one that makes reading ask makes editing ask", async () => {
  const rules = pathRules(
    ["read", "/open/**", "allow"],
    ["read", "/private/**", "ask"],
    ["write", "/private/**", "allow"],
  );
  await using d = await fileDesk({ files: { "/open/a.txt": "a", "/private/a.txt": "a" }, rules, permissions: [] });
  for (const folder of ["open", "private"]) {
    const turn = d.send(["edit_file", { file_path: `${folder}/a.txt`, old_string: "a", new_string: "b" }]);
    assert.equal((await pending(d)).toolName, "edit_file");
    await d.harness.respondToToolApproval({ decision: "decline", message: "no" });
    await turn;
  }
});

test("a rule with a pattern denies what it covers, whichever way the path is written", async () => {
  await using d = await fileDesk({
    files: { "/src/a.ts": "a", "/src/gen/b.ts": "b" },
    permissions: [
      { category: "edit", policy: "allow" },
      { category: "edit", match: "src/gen/**", policy: "deny" },
    ],
  });
  assert.match(await d.fails(...write("src/gen/c.ts")), /^Denied/);
  assert.match(await d.fails(...write("./src//x/../gen/c.ts")), /^Denied/);
  assert.match(await d.fails("delete", { file_path: "src/gen/b.ts" }), /^Denied/);
  assert.match(await d.fails("delete", { file_path: "src" }), /^Denied/);
  await d.ok(...write("src/c.ts"));
  await d.ok("delete", { file_path: "src/a.ts" });
});

test("an unusable path is refused at once, without an approval", async () => {
  await using d = await fileDesk({ permissions: [] });
  assert.match(
    await d.fails(...write("../../etc/passwd")),
    /Invalid arguments for write_file[^]*escapes the root of the workspace/,
  );
  assert.equal(d.events.filter((event) => event.type === "tool_approval_required").length, 0);
});

test("an approved call does what was approved, even if the file changed while it waited", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" }, permissions: [] });
  await d.ok("read_file", { file_path: "a.txt" });
  const turn = d.send(write("a.txt", "new"));
  await pending(d);
  d.backend.put("/a.txt", "theirs");
  await d.harness.respondToToolApproval({ decision: "approve" });
  await turn;
  assert.match(String(last(d).result.content), /has changed since this thread last read or wrote it/);
  assert.equal(d.backend.text("/a.txt"), "theirs");
});
