import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type Workspace } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import type { FileJournal, FileVersion, WorkspaceHost } from "@cinch/core/workspace";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { harness, next } from "../support.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Stands in for a hash. */
const versionOf = (text: string): FileVersion => ({
  hash: text,
  size: text.length,
  parts: [{ blob: text, size: text.length }],
});

/** Records a change as a tool does, with the file, because it lives in the journal. */
const keep = async (files: FileJournal, path: string, text: string) =>
  files.record(
    (held) => {
      const [before, after] = [held[path]?.version ?? null, versionOf(text)];
      const change = { path, operation: "write" as const, before, after, version: text };
      return [change, { ...change, held: true }];
    },
    [{ hash: text, bytes: bytesOf(text) }],
  );

const seen: unknown[] = [];
const tools = {
  write: defineTool({
    description: "Writes",
    category: "read",
    input: z.object({ path: z.string(), text: z.string() }),
    execute: async ({ path, text }, { files }) => String(await keep(files, path, text)),
  }),
  look: defineTool({
    description: "Looks",
    category: "read",
    input: z.object({ path: z.string() }),
    execute: async ({ path }, { files }) => {
      const blob = (await files.held())[path]?.version.parts?.[0]?.blob;
      const bytes = blob === undefined ? undefined : await files.blob(blob);
      seen.push([files.seen(path), bytes && new TextDecoder().decode(bytes)]);
      files.read(path, "as read");
      return "looked";
    },
  }),
};

/** Runs a command such as "write /a one" or "look /a". */
const model = scriptedBy(({ prompt }) => {
  const last = prompt.at(-1);
  if (last?.role !== "user") return say("done");
  const [name = "", path = "", text = ""] = last.content.flatMap((part) =>
    part.type === "text" ? part.text.split(" ") : [],
  );
  return call(name, name === "write" ? { path, text } : { path });
});

test("files in the journal survive a restart, are inherited by a clone, and are restored by a rewind", async () => {
  seen.length = 0;
  const data = new MemoryData();
  const first = await harness({ model, tools, storage: memoryStore(data) });
  const changed = next(first, "file_changed");
  await first.sendMessage({ content: "write /a one" });
  assert.deepEqual([(await changed).path, (await changed).before, (await changed).after?.hash], ["/a", null, "one"]);
  const { seq } = first.getDisplayState();
  await first.sendMessage({ content: "write /a two" });
  assert.deepEqual(Object.keys(first.getDisplayState().modifiedFiles), ["/a"]);
  await first.close();
  await using h = await harness({ model, tools, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  await h.sendMessage({ content: "look /a" });
  await h.sendMessage({ content: "look /a" });
  await h.cloneThread({ atSeq: seq });
  await h.sendMessage({ content: "look /a" });
  assert.deepEqual(seen, [
    ["two", "two"],
    ["as read", "two"],
    ["one", "one"],
  ]);
});

test("the threads of a resource share files, and threads of another resource do not see them", async () => {
  const data = new MemoryData();
  const hosts: WorkspaceHost[] = [];
  const workspace: Workspace = {
    tools: {},
    open: async (host) => {
      hosts.push(host);
      return { protection: "none", description: "Nothing." };
    },
    close: async () => undefined,
  };
  await using one = await harness({ model, workspace, storage: memoryStore(data) });
  await using two = await harness({ model, workspace, storage: memoryStore(data) });
  const [here, there] = await Promise.all(hosts.map((host) => host.shared("team")));
  await Promise.all([keep(here!, "/a", "one"), keep(there!, "/b", "two")]);
  await keep(here!, "/c", "three");
  assert.deepEqual(Object.keys(await there!.held()).toSorted(), ["/a", "/b", "/c"]);
  assert.deepEqual(await (await hosts[0]!.shared("others")).held(), {});
  assert.deepEqual([await one.listThreads(), await two.listThreads()], [[], []]);
});

test("a workspace reports its protection when the harness opens, and one that can't be opened makes init fail", async () => {
  const open = async () => ({ protection: "os", description: "In a sandbox." });
  const workspace: Workspace = { tools: {}, open, close: async () => undefined };
  await using h = await harness({ model, workspace });
  await h.createThread();
  const broken: Workspace = {
    ...workspace,
    open: async () => {
      throw new Error("no folder");
    },
  };
  await assert.rejects(harness({ model, workspace: broken }), /no folder/);
});
