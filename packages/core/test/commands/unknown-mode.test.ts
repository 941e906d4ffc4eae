import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, type CinchError, type Memory, type Workspace } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import type { FileVersion, Undo } from "@cinch/core/workspace";
import { call, fail, hang, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { next } from "../support.ts";

const code = (expected: string) => (error: unknown) => (error as CinchError).code === expected;

/** Summarises everything when it is asked to. */
const memory: Memory = {
  plan: ({ isRequested, boundaries, fromSeq }) => {
    const range: [number, number] = [fromSeq, boundaries.at(-1)?.seq ?? 0];
    const cut = isRequested ? { kind: "summarise" as const, range, reason: "requested" as const } : null;
    return { cut, observe: null, reflect: null };
  },
  summarise: async () => "They talked.",
};

const versionOf = (text: string): FileVersion => ({ hash: text, size: text.length, parts: [] });

/** A workspace with one tool, which writes the only file. A restored file has its former text. */
function desk(disk: Map<string, string>) {
  const write = defineTool({
    description: "Writes",
    category: "read",
    input: z.object({ text: z.string() }),
    execute: async ({ text }, { files }) => {
      const before = disk.has("/a") ? versionOf(disk.get("/a")!) : null;
      await files.record(() => [{ path: "/a", operation: "write", before, after: versionOf(text), version: text }]);
      disk.set("/a", text);
      return "written";
    },
  });
  const undo: Undo = {
    look: async (paths) =>
      new Map(paths.flatMap((path) => (disk.has(path) ? [[path, { hash: disk.get(path)! }]] : []))),
    obstacles: async () => new Map(),
    restore: async (files) => {
      if (disk.has("stuck")) await new Promise(() => undefined);
      return files.map(({ path, to }) => {
        disk.set(path, to?.hash ?? "");
        return { path, outcome: "restored" as const };
      });
    },
    diff: async () => [],
    settle: async () => undefined,
  };
  const workspace: Workspace = {
    tools: { write },
    open: async () => ({ protection: "none", description: "Nothing." }),
    close: async () => undefined,
    undo,
  };
  return workspace;
}

/** Writes what it is told to. */
const model = scriptedBy(({ prompt }) => {
  const last = prompt.at(-1);
  if (last?.role !== "user") return say("done");
  const text = last.content.flatMap((part) => (part.type === "text" ? part.text : [])).join("");
  if (text === "fail") return fail(Object.assign(new Error("bad request"), { statusCode: 400 }));
  if (text === "hang") return hang("well");
  return text.startsWith("write ") ? call("write", { text: text.slice(6) }) : say("ok");
});

function processes() {
  const [data, disk] = [new MemoryData(), new Map<string, string>()];
  const withModes = (...ids: string[]) =>
    new Harness({
      id: "t",
      modes: ids.map((id) => ({ id, agent: new Agent({ name: id, model }) })),
      memory,
      workspace: desk(disk),
      storage: new MemoryStore(data),
      permissions: [{ toolName: "write", policy: "allow" }],
    });
  return { disk, withModes, length: async (id: string) => (await new MemoryStore(data).read(id)).length };
}

test("in a mode that the configuration lacks, what needs a driver is refused, and nothing is recorded or waited for", async () => {
  const { disk, withModes, length } = processes();
  const before = withModes("old", "gone");
  const { id: threadId } = await before.createThread();
  await before.sendMessage({ content: "write one" });
  const { seq } = before.getDisplayState();
  await before.sendMessage({ content: "write two" });
  await before.sendMessage({ content: "fail" });
  await before.switchMode({ modeId: "gone" });
  await before.close();
  const h = withModes("old");
  await h.switchThread({ threadId });
  const recorded = await length(threadId);
  await assert.rejects(h.compact(), code("UNKNOWN_MODE"));
  await assert.rejects(h.retry(), code("UNKNOWN_MODE"));
  await assert.rejects(h.rewind({ toSeq: seq, files: true, conversation: false }), code("UNKNOWN_MODE"));
  assert.equal(await length(threadId), recorded);
  assert.equal((await h.settled()).status, "idle");
  assert.equal(disk.get("/a"), "two");
  const preview = await h.rewind({ toSeq: seq, files: true, conversation: false, dryRun: true });
  assert.deepEqual(
    preview.files.map(({ outcome }) => outcome),
    ["restored"],
  );
  // This rewind also reverts the switch.
  await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual([disk.get("/a"), h.getCurrentModeId()], ["one", "old"]);
  await h.close();
});

test("files are not reverted to a time when the thread was in a mode that the configuration lacks", async () => {
  const { disk, withModes, length } = processes();
  const before = withModes("old", "gone");
  const { id: threadId } = await before.createThread();
  await before.switchMode({ modeId: "gone" });
  await before.sendMessage({ content: "write one" });
  const { seq } = before.getDisplayState();
  await before.switchMode({ modeId: "old" });
  await before.sendMessage({ content: "write two" });
  await before.close();
  const h = withModes("old");
  await h.switchThread({ threadId });
  const recorded = await length(threadId);
  await assert.rejects(h.rewind({ toSeq: seq, files: true }), code("UNKNOWN_MODE"));
  assert.equal(await length(threadId), recorded);
  await h.rewind({ toSeq: seq, files: true, conversation: false });
  assert.deepEqual([disk.get("/a"), h.getCurrentModeId()], ["one", "old"]);
  await h.close();
});

test("a rewind whose files are not restored yet ends with the reason, and so does one after it", async () => {
  const { disk, withModes } = processes();
  const before = withModes("old", "gone");
  const { id: threadId } = await before.createThread();
  await before.switchMode({ modeId: "gone" });
  await before.sendMessage({ content: "write one" });
  const { seq } = before.getDisplayState();
  await before.sendMessage({ content: "write two" });
  const rewind = { toSeq: seq, files: true, conversation: false };
  const restoring = next(before, "checkpoint_created");
  disk.set("stuck", "");
  const lost = assert.rejects(
    (await before.createSession({ threadId })).once({ commandId: "c" }).rewind(rewind),
    code("CLOSED"),
  );
  assert.equal((await restoring).reason, "restore");
  await before.close();
  await lost;
  const h = withModes("old");
  await h.switchThread({ threadId });
  await assert.rejects(
    (await h.createSession({ threadId })).once({ commandId: "c" }).rewind(rewind),
    code("UNKNOWN_MODE"),
  );
  await assert.rejects(h.rewind({ toSeq: seq }), code("UNKNOWN_MODE"));
  await h.abort();
  disk.delete("stuck");
  await h.switchMode({ modeId: "old" });
  assert.equal((await h.settled()).status, "idle");
  assert.equal(disk.get("/a"), "one");
  await h.close();
});

test("resume() says that the mode of held inputs is missing", async () => {
  const { withModes } = processes();
  const before = withModes("old", "gone");
  const { id: threadId } = await before.createThread();
  await before.switchMode({ modeId: "gone" });
  const started = next(before, "message_start");
  await before.post({ content: "hang", delivery: "send" });
  await before.followUp({ content: "later" });
  await started;
  await before.abort();
  await before.close();
  const h = withModes("old");
  await h.switchThread({ threadId });
  await assert.rejects(h.resume(), code("UNKNOWN_MODE"));
  await h.close();
});

test("in the thread of a subagent that the configuration lacks, compact() is refused", async () => {
  const data = new MemoryData();
  const withAgents = (...names: string[]) => {
    const subagents = names.map((name) => new Agent({ name, model: scriptedBy(() => say("ok")) }));
    const lead = scriptedBy(({ prompt }) =>
      prompt.at(-1)?.role === "tool" ? say("ok") : call("task", { agent: "gone", prompt: "go" }),
    );
    const agent = new Agent({ name: "lead", model: lead, subagents });
    return new Harness({ id: "t", agent, memory, storage: new MemoryStore(data) });
  };
  const before = withAgents("gone", "other");
  const { id: parentId } = await before.createThread();
  await before.sendMessage({ content: "go" });
  const [child] = await before.listThreads({ parentId });
  await before.close();
  const h = withAgents("other");
  await h.switchThread({ threadId: child!.id });
  await assert.rejects(h.compact(), code("INVALID_CONFIG"));
  assert.equal((await h.settled()).status, "idle");
  await h.close();
});
