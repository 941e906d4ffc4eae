import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { Agent, defineTool, Harness, textOf, type HarnessConfig } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script } from "@cinch/testkit";
import {
  compositeBackend,
  createWorkspace,
  localWorkspace,
  memoryBackend,
  storeBackend,
  threadBackend,
  type FileWorkspace,
} from "@cinch/workspace";
import * as z from "zod";
import { TemporaryFolder } from "./temporary-folder.ts";
import { commandDesk, obedient, type Call, type CommandDesk } from "./tools/execute/command-desk.ts";

/** 300,000 characters. */
const WHOLE = Array.from({ length: 20_000 }, (_, at) => `line ${String(at + 1).padStart(9)}\n`).join("");
const TEXTS = {
  lines: WHOLE,
  "a line": `{"a":"${"x".repeat(100_000)}","end":1}`,
  "long lines": `${"z".repeat(1_999)}\n`.repeat(100),
};
type What = keyof typeof TEXTS;

const give = defineTool({
  description: "Gives a long text",
  input: z.object({ what: z.enum(Object.keys(TEXTS) as What[]) }),
  execute: ({ what }) => TEXTS[what],
});

const pathOf = (kind: "result" | "message", text: string): string =>
  `/.cinch/context/${kind}-${createHash("sha256").update(text).digest("hex").slice(0, 32)}.txt`;

const desk = (workspace: FileWorkspace, config: Partial<HarnessConfig> = {}): Promise<CommandDesk> =>
  commandDesk(workspace, { tools: { give }, ...config });

const inMemory = (): FileWorkspace => createWorkspace({ backend: memoryBackend() });

/** Calls `give`. Returns what the model got, and the path in it. */
async function offload(d: CommandDesk, what: What = "lines"): Promise<{ text: string; path: string }> {
  const { text } = await d.ok("give", { what });
  const path = pathOf("result", TEXTS[what]);
  assert.ok(text.includes(`The text is in ${path}: read it with read_file`), text);
  return { text, path };
}

const kinds: Record<string, (root: TemporaryFolder) => FileWorkspace> = {
  "a folder": (root) => localWorkspace({ root: root.path, sandbox: "none" }),
  memory: inMemory,
  "a thread": () => createWorkspace({ backend: threadBackend() }),
  "a composite": () =>
    createWorkspace({
      backend: compositeBackend({
        default: memoryBackend(),
        routes: { "/.cinch": storeBackend(), "/x": threadBackend() },
      }),
    }),
};

for (const [kind, make] of Object.entries(kinds))
  test(`in ${kind}, an offloaded result is read to its end by following the offsets`, async () => {
    await using root = await TemporaryFolder.make();
    await using d = await desk(make(root));
    const { text, path } = await offload(d);
    let offset = /offset (\d+) goes on here/.exec(text)?.[1];
    let seen = text.slice(0, text.indexOf("\n\n[")).replace(/[^\n]*$/, "");
    while (offset !== undefined) {
      const { text: page } = await d.ok("read_file", { file_path: path, offset: Number(offset) });
      seen += `${page.replace(/^.*\n/, "").replaceAll(/^ *\d+\t/gm, "")}\n`;
      offset = /^lines .* offset (\d+)\n/.exec(page)?.[1];
    }
    assert.equal(seen, WHOLE);
    assert.ok(!existsSync(root.at(".cinch")), "nothing is written to the folder");
  });

for (const [kind, make] of Object.entries(kinds))
  test(`in ${kind}, an offloaded result is found by grep, ls and glob`, async () => {
    await using root = await TemporaryFolder.make();
    await using d = await desk(make(root));
    const { path } = await offload(d);
    const shown = path.slice(1);
    for (const where of [path, "/.cinch/context", "/.cinch"]) {
      const { text } = await d.ok("grep", { pattern: "line     12345", path: where, output_mode: "content" });
      assert.equal(text, `1 line in 1 file\n${shown}:12345:line     12345`);
    }
    assert.match(
      (await d.ok("ls", { path: "/.cinch/context" })).text,
      new RegExp(`^1 entry in .*\nfile +300000 .* ${shown}$`),
    );
    assert.match((await d.ok("ls", { path: "/.cinch" })).text, /directory .* \.cinch\/context\/$/);
    for (const query of [
      { pattern: "*", path: "/.cinch/context" },
      { pattern: ".cinch/context/*.txt" },
      { pattern: "/.cinch/**" },
    ])
      assert.match((await d.ok("glob", query)).text, new RegExp(`${shown}$`));
  });

test("a search from the root leaves out what was offloaded", async () => {
  await using d = await desk(inMemory());
  await d.ok("write_file", { file_path: "/a.txt", content: "line     12345\n" });
  await offload(d);
  assert.equal((await d.ok("grep", { pattern: "line     12345" })).text, "1 line in 1 file\na.txt");
  assert.doesNotMatch((await d.ok("glob", { pattern: "**/*.txt" })).text, /context/);
});

test("a single long line is read with char_offset", async () => {
  await using d = await desk(inMemory());
  const { path } = await offload(d, "a line");
  const { text } = await d.ok("read_file", { file_path: path, offset: 0, char_offset: 100_000 });
  assert.match(text, /x{6}","end":1\}$/);
});

test("a long message of the user is read in the same way", async () => {
  const content = `Summarise this: ${WHOLE}`;
  const read = { file_path: pathOf("message", content), offset: 12_344, limit: 1 };
  const agent = new Agent({ name: "a", model: script(call("read_file", read), say("Read.")) });
  await using d = await desk(inMemory(), { agent });
  await d.harness.sendMessage({ content });
  const [said, called] = await d.harness.listMessages();
  assert.match(textOf(said!.content), new RegExp(`The text is in ${read.file_path}: read it with read_file`));
  assert.match(textOf(Object.values(called!.outcomes)[0]!.result.content), /\tline {5}12345$/);
});

const NO_WRITE = /what was offloaded can only be read/;

test("no tool can change what was offloaded, not even where a rule permits writing in .cinch", async () => {
  const permissions = [{ operations: ["write" as const], paths: ["/.cinch/**"], mode: "allow" as const }];
  await using root = await TemporaryFolder.make();
  for (const workspace of [
    inMemory(),
    createWorkspace({ backend: memoryBackend(), permissions }),
    localWorkspace({ root: root.path, sandbox: "none", permissions }),
  ]) {
    await using d = await desk(workspace);
    const { path } = await offload(d);
    await d.ok("read_file", { file_path: path });
    assert.match(await d.fails("write_file", { file_path: path, content: "other" }), NO_WRITE);
    assert.match(await d.fails("write_file", { file_path: "/.cinch/context/new.txt", content: "x" }), NO_WRITE);
    const edit = { file_path: path, old_string: "line         1\n", new_string: "" };
    assert.match(await d.fails("edit_file", edit), NO_WRITE);
    assert.match(await d.fails("delete", { file_path: path }), NO_WRITE);
    assert.match(await d.fails("delete", { file_path: "/.cinch/context" }), NO_WRITE);
    await assert.rejects(workspace.upload({ [path]: "x" }), NO_WRITE);
    const { text } = await d.ok("read_file", { file_path: path, limit: 1 });
    assert.match(text, /\tline {9}1$/);
  }
});

test("a real folder at that path is hidden from the file tools and stays as it is; only commands see it", async () => {
  await using root = await TemporaryFolder.make();
  await mkdir(root.at(".cinch", "context"), { recursive: true });
  await using d = await desk(localWorkspace({ root: root.path, sandbox: "none" }));
  const { path } = await offload(d);
  const real = root.at(path);
  await writeFile(real, "planted");
  await writeFile(root.at(".cinch/context/other.txt"), "planted");
  assert.match((await d.ok("read_file", { file_path: path, limit: 1 })).text, /\tline {9}1$/);
  assert.match(await d.fails("read_file", { file_path: "/.cinch/context/other.txt" }), /There is no file/);
  assert.match((await d.ok("ls", { path: "/.cinch/context" })).text, /^1 entry/);
  for (const from of ["/", "/.cinch", "/.cinch/context"])
    assert.match((await d.ok("grep", { pattern: "planted", path: from })).text, /^Nothing matches/);
  assert.doesNotMatch((await d.ok("glob", { pattern: "**/other.txt" })).text, /context/);
  assert.match((await d.ok("execute", { command: `cat .${path}` })).text, /planted/);
  assert.equal(await readFile(real, "utf8"), "planted");
});

test("a link in the workspace to that path shows what was offloaded, and writes nothing through it", async () => {
  await using root = await TemporaryFolder.make();
  await using d = await desk(localWorkspace({ root: root.path, sandbox: "none" }));
  const { path } = await offload(d);
  await mkdir(root.at(".cinch", "context"), { recursive: true });
  await symlink(".cinch/context", root.at("alias"));
  const alias = path.replace("/.cinch/context", "/alias");
  assert.match((await d.ok("read_file", { file_path: alias, limit: 1 })).text, /\tline {9}1$/);
  assert.match(await d.fails("write_file", { file_path: alias, content: "x" }), NO_WRITE);
});

test("a path cannot lead out of the folder of offloaded texts", async () => {
  await using root = await TemporaryFolder.make();
  await writeFile(root.at("secret.txt"), "secret");
  await using d = await desk(localWorkspace({ root: root.at("."), sandbox: "none" }));
  await offload(d);
  for (const file_path of ["/.cinch/context/../../../etc/passwd", "/.cinch/context/..%2f..%2fsecret.txt"])
    await d.fails("read_file", { file_path });
  assert.match((await d.ok("read_file", { file_path: "/.cinch/context/../../secret.txt" })).text, /secret/);
});

test("path rules for reading bind it as they bind every file", async () => {
  const permissions = [{ operations: ["read" as const], paths: ["/.cinch/**"], mode: "deny" as const }];
  await using d = await desk(createWorkspace({ backend: memoryBackend(), permissions }));
  const { path } = await offload(d);
  await d.fails("read_file", { file_path: path });
  await d.fails("grep", { pattern: "line", path: "/.cinch/context" });
});

test("another thread cannot read it, though it knows the path and shares the store", async () => {
  await using d = await desk(inMemory());
  const { path } = await offload(d);
  await d.harness.createThread();
  assert.match(await d.fails("read_file", { file_path: path }), /There is no file/);
  assert.equal((await d.ok("ls", { path: "/.cinch/context" })).text, ".cinch/context is empty.");
});

test("a thread with the same text has it under the same path, by its own journal", async () => {
  await using d = await desk(inMemory());
  const first = await offload(d);
  const { threadId } = d.harness.getDisplayState();
  await d.harness.createThread();
  const second = await offload(d);
  assert.equal(first.path, second.path);
  await d.harness.deleteThread({ threadId: threadId! });
  assert.match((await d.ok("read_file", { file_path: second.path, limit: 1 })).text, /\tline {9}1$/);
});

test("after a rewind it is gone; a clone that was made before still has it", async () => {
  await using d = await desk(inMemory());
  await d.calls(d.harness);
  const { seq, threadId } = d.harness.getDisplayState();
  const { path } = await offload(d);
  const clone = await d.harness.cloneThread();
  await d.ok("read_file", { file_path: path, limit: 1 });
  await d.harness.switchThread({ threadId: threadId! });
  await d.harness.rewind({ toSeq: seq });
  assert.match(await d.fails("read_file", { file_path: path }), /There is no file/);
  await d.harness.switchThread({ threadId: clone.id });
  await d.ok("read_file", { file_path: path, limit: 1 });
});

test("it is not a file of the workspace: undo and diff ignore it", async () => {
  await using root = await TemporaryFolder.make();
  await using d = await desk(localWorkspace({ root: root.path, sandbox: "none" }));
  await d.calls(d.harness);
  const { seq } = d.harness.getDisplayState();
  const { path } = await offload(d);
  await d.ok("execute", { command: "echo x > a.txt" });
  assert.deepEqual(
    (await d.harness.diff({ since: seq })).map((file) => file.path),
    ["/a.txt"],
  );
  const { files } = await d.harness.rewind({ toSeq: seq, files: true });
  assert.deepEqual(
    files.map((file) => file.path),
    ["/a.txt"],
  );
  assert.match(await d.fails("read_file", { file_path: path }), /There is no file/);
});

test("another process reads it after the first has ended", async () => {
  await using root = await TemporaryFolder.make();
  const open = () => desk(inMemory(), { storage: sqliteStore({ path: root.at("cinch.db") }) });
  const first = await open();
  const { path } = await offload(first);
  const { threadId } = first.harness.getDisplayState();
  await first.harness.close();
  await using second = await open();
  await second.harness.switchThread({ threadId: threadId! });
  const { text } = await second.ok("grep", { pattern: "line     12345", path, output_mode: "count" });
  assert.equal(text, `1 line in 1 file\n${path.slice(1)}:1`);
});

/** Lets a subagent make these calls. Returns its results. */
async function delegate(
  d: CommandDesk,
  agent: string,
  ...calls: Call[]
): Promise<{ text: string; isError: boolean }[]> {
  const results: { text: string; isError: boolean }[] = [];
  const off = d.harness.subscribe((event) => {
    if (event.type !== "subagent_tool_end") return;
    results.push({ text: textOf(event.result.content), isError: event.isError });
  });
  await d.ok("task", { agent, prompt: JSON.stringify(calls) });
  off();
  return results;
}

const giver = new Agent({ name: "giver", model: obedient, tools: { give } });
const reader = new Agent({ name: "reader", model: obedient });
const team = { agent: new Agent({ name: "lead", model: obedient, subagents: [giver, reader] }) };

test("a subagent reads what the threads above it offloaded", async () => {
  await using d = await desk(inMemory(), team);
  const { path } = await offload(d);
  const [read] = await delegate(d, "reader", ["read_file", { file_path: path, limit: 1 }]);
  assert.match(read!.text, /\tline {9}1$/);
});

test("what a subagent offloaded is read neither by the threads above it nor by other subagents", async () => {
  await using d = await desk(inMemory(), team);
  const [given] = await delegate(d, "giver", ["give", { what: "lines" }]);
  assert.match(given!.text, /of 300000 characters left out here/);
  const file_path = pathOf("result", WHOLE);
  assert.match(await d.fails("read_file", { file_path }), /There is no file/);
  const [read] = await delegate(d, "reader", ["read_file", { file_path }]);
  assert.match(read!.text, /There is no file/);
});

test("an agent or a mode without read_file is not told to use it", async () => {
  await using d = await desk(inMemory(), team);
  const [given] = await delegate(d, "giver", ["give", { what: "lines" }]);
  assert.match(given!.text, /no tool here can read it/);
  const agent = new Agent({ name: "a", model: script(call("give", { what: "lines" }), say("Given.")) });
  const blind = new Harness({
    id: "blind",
    modes: [{ id: "blind", agent, availableTools: ["give"] }],
    tools: { give },
    workspace: inMemory(),
    initialState: { yolo: true },
  });
  await blind.sendMessage({ content: "go" });
  const outcomes = (await blind.listMessages()).flatMap((message) => Object.values(message.outcomes));
  assert.match(textOf(outcomes[0]!.result.content), /no tool here can read it/);
  await blind.close();
});

test("a page of read_file is never offloaded itself", async () => {
  await using d = await desk(inMemory());
  const { path } = await offload(d, "long lines");
  const { text } = await d.ok("read_file", { file_path: path });
  assert.match(text, /^lines 1-\d+ of 100; for more call read_file with offset/);
  assert.doesNotMatch(text, /characters left out here/);
});
