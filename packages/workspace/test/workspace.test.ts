import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type HarnessConfig, type HarnessEvent } from "@cinch/core";
import { call, say, script, type Step } from "@cinch/testkit";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  localWorkspace,
  memoryBackend,
  storeBackend,
  threadBackend,
  type FileWorkspace,
} from "@cinch/workspace";

function folder() {
  const path = mkdtempSync(join(tmpdir(), "cinch-workspace-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 9 }) };
}

async function at(workspace: FileWorkspace, steps: Step[], config: Partial<HarnessConfig> = {}) {
  const model = script(...steps, say("done"));
  const h = new Harness({
    id: "x",
    storage: memoryStore(),
    agent: new Agent({ name: "a", model }),
    workspace,
    ...config,
  });
  const events: HarnessEvent[] = [];
  h.subscribe((event) => events.push(event));
  await h.init();
  const results = () =>
    events.flatMap((event) =>
      event.type === "tool_end" ? [[textOf(event.result.content), event.isError] as const] : [],
    );
  return Object.assign(h, { events, results, [Symbol.asyncDispose]: () => h.close() });
}

const yolo = { initialState: { yolo: true } };

test("an agent works in a folder: it writes, reads, edits, searches and runs commands", async () => {
  using root = folder();
  const workspace = localWorkspace({ root: root.path, sandbox: "none" });
  await using h = await at(
    workspace,
    [
      call("write_file", { file_path: "src/a.txt", content: "one\ntwo\n" }),
      call(["edit_file", { file_path: "src/a.txt", old_string: "two", new_string: "$& three" }, "e"]),
      call("read_file", { file_path: "/src/a.txt" }),
      call(["grep", { pattern: "three" }, "g"], ["glob", { pattern: "**/*.txt" }, "l"], ["ls", {}, "s"]),
      call("execute", { command: "cat src/a.txt; exit 3" }),
    ],
    yolo,
  );
  assert.equal((await h.sendMessage({ content: "Go" })).reason, "complete");
  assert.equal(readFileSync(join(root.path, "src/a.txt"), "utf8"), "one\n$& three\n");
  const results = h.results();
  assert.ok(
    results.every(([, isError]) => !isError),
    JSON.stringify(results),
  );
  assert.match(results.at(-1)![0], /^Exit code 3 .*\none\n\$& three/s);
  const printed = h.events.flatMap((event) => (event.type === "shell_output" ? [event.output] : []));
  assert.equal(printed.join(""), "one\n$& three\n");
  assert.deepEqual(Object.keys(h.getDisplayState().modifiedFiles), ["/src/a.txt"]);
});

test("path rules bind the tools, and hide files from them", async () => {
  using root = folder();
  writeFileSync(join(root.path, ".env"), "KEY=1\n");
  const permissions = [
    { operations: ["read", "write"] as ("read" | "write")[], paths: ["/**/.env*"], mode: "deny" as const },
  ];
  const workspace = localWorkspace({ root: root.path, sandbox: "none", permissions });
  await using h = await at(
    workspace,
    [
      call(
        ["read_file", { file_path: ".env" }, "r"],
        ["write_file", { file_path: ".env", content: "x" }, "w"],
        ["grep", { pattern: "KEY" }, "g"],
      ),
    ],
    yolo,
  );
  await h.sendMessage({ content: "Go" });
  const results = h.results();
  assert.deepEqual(
    results.map(([, isError]) => isError),
    [true, true, false],
  );
  assert.doesNotMatch(results[2]![0], /KEY=1/);
  assert.equal(readFileSync(join(root.path, ".env"), "utf8"), "KEY=1\n");
});

test("without protection every command asks, whatever rules and grants allow, and only YOLO lifts that", async () => {
  using root = folder();
  const workspace = localWorkspace({ root: root.path, sandbox: "none" });
  const permissions = [
    { category: "execute" as const, policy: "allow" as const },
    { toolName: "execute", policy: "allow" as const },
    { toolName: "execute", match: "echo *", policy: "allow" as const },
  ];
  const echo = call("execute", { command: "echo hello" });
  await using h = await at(workspace, [echo, say("asked"), echo, say("ran")], { permissions });
  await h.grantSessionTool({ toolName: "execute", match: "echo *" });
  const asked = new Promise<HarnessEvent>((resolve) =>
    h.subscribe((event) => event.type === "tool_approval_required" && resolve(event)),
  );
  const turn = h.sendMessage({ content: "Go" });
  const event = await asked;
  // "Always" would have no effect, and is not offered.
  assert.deepEqual(event.type === "tool_approval_required" && event.decisions, ["approve", "decline", "edit"]);
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  await h.setState({ yolo: true });
  assert.equal((await h.sendMessage({ content: "Again" })).reason, "complete");
  assert.equal(h.events.filter(({ type }) => type === "tool_approval_required").length, 1);
});

test("clones inherit the files of a thread and a rewind restores them; files of the store are shared", async () => {
  using root = folder();
  const backend = compositeBackend({
    default: threadBackend(),
    routes: { "/memories/": storeBackend(), "/repo/": directoryBackend({ root: root.path }) },
  });
  const workspace = createWorkspace({ backend });
  const write = (file_path: string, content: string) => call("write_file", { file_path, content });
  const read = (file_path: string) => call("read_file", { file_path });
  await using h = await at(
    workspace,
    [
      write("/notes.txt", "first"),
      write("/memories/m.txt", "shared"),
      write("/repo/r.txt", "real"),
      say("ok"),
      read("/notes.txt"),
      read("/memories/m.txt"),
    ],
    yolo,
  );
  await h.sendMessage({ content: "Go" });
  assert.equal(readFileSync(join(root.path, "r.txt"), "utf8"), "real");
  await h.cloneThread();
  await h.sendMessage({ content: "Look" });
  const [notes, memory] = h.results().slice(-2);
  assert.match(notes![0], /first/);
  assert.match(memory![0], /shared/);
  const other = await h.createSession();
  await other.createThread();
  assert.equal(workspace.tools["execute"], undefined);
});

test("the program uploads and downloads files", async () => {
  using root = folder();
  const workspace = localWorkspace({ root: root.path, sandbox: "none" });
  await using h = await at(workspace, []);
  await workspace.upload({ "/in/a.txt": "hello", "b.bin": new Uint8Array([0, 255]) });
  const files = await workspace.download(["in/a.txt", "/b.bin"]);
  assert.deepEqual([new TextDecoder().decode(files["in/a.txt"]), [...files["/b.bin"]!]], ["hello", [0, 255]]);
  await assert.rejects(workspace.download(["/none"]), { code: "INVALID_INPUT" });
  assert.equal(h.getDisplayState().status, "idle");
});

test("an upload of what is no file is refused, and writes nothing", async () => {
  const workspace = createWorkspace({ backend: memoryBackend({ "/a.txt": "kept" }) });
  for (const content of [5, null, undefined, ["x"], new ArrayBuffer(1)])
    await assert.rejects(workspace.upload({ "/b.txt": "new", "/a.txt": content } as never), {
      code: "INVALID_INPUT",
      message: /content of \/a\.txt must be a text or bytes/,
    });
  for (const files of [undefined, null, 5, [["/a.txt", "x"]]])
    await assert.rejects(workspace.upload(files as never), { code: "INVALID_INPUT", message: /an object of files/ });
  for (const paths of [undefined, null, "/a.txt", { path: "/a.txt" }])
    await assert.rejects(workspace.download(paths as never), { code: "INVALID_INPUT", message: /a list of paths/ });
  const { "/a.txt": kept } = await workspace.download(["/a.txt"]);
  assert.equal(new TextDecoder().decode(kept), "kept");
  await assert.rejects(workspace.download(["/b.txt"]), { code: "INVALID_INPUT" });
});

test("a path that escapes the root is refused with its code, by the tools and for the program", async () => {
  using root = folder();
  const workspace = localWorkspace({ root: root.path, sandbox: "none" });
  symlinkSync("/etc", join(root.path, "out"));
  await using h = await at(
    workspace,
    [call(["read_file", { file_path: "out/passwd" }, "a"], ["write_file", { file_path: "../x", content: "" }, "b"])],
    yolo,
  );
  await h.sendMessage({ content: "Go" });
  for (const [text, isError] of h.results()) assert.deepEqual([/PATH_OUTSIDE_ROOT/.test(text), isError], [true, true]);
  for (const path of ["../x", "out/passwd"]) {
    await assert.rejects(workspace.download([path]), { code: "PATH_OUTSIDE_ROOT" });
    await assert.rejects(workspace.upload({ [path]: "" }), { code: "PATH_OUTSIDE_ROOT" });
  }
  await workspace.upload({ [join(root.path, "real.txt")]: "by its real path" });
  assert.equal(readFileSync(join(root.path, "real.txt"), "utf8"), "by its real path");
});
