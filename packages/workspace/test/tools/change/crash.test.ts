import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData } from "@cinch/core/store";
import { memoryStore, type DurableEvent } from "@cinch/core";
import { FileError } from "@cinch/workspace";
import * as fc from "fast-check";
import { fileDesk, type Args, type FileDesk } from "../file-desk.ts";
import { MapBackend } from "../map-backend.ts";
import { undo } from "../undo-by-journal.ts";

const POINTS = ["read", "write", "written", "delete", "deleted"] as const;
type Point = (typeof POINTS)[number];

/** Simulates the death of the process at the given point of the first call that reaches it. Returns whether one did. */
async function dieAt(
  data: MemoryData,
  backend: MapBackend,
  point: Point,
  ...calls: [string, Args][]
): Promise<boolean> {
  const storage = memoryStore(data);
  const d = await fileDesk({ backend, storage });
  await d.harness.selectOrCreateThread();
  const died = Promise.withResolvers<true>();
  backend.hook = (operation) => {
    if (operation !== point) return;
    storage.die();
    died.resolve(true);
    // A dead process does nothing.
    return new Promise(() => undefined);
  };
  const turn = d.send(...calls).then(
    () => false,
    () => false,
  );
  const isDead = await Promise.race([died.promise, turn]);
  backend.hook = () => undefined;
  storage.die();
  return isDead;
}

/** The next process, which continues the thread. */
async function nextProcess(data: MemoryData, backend: MapBackend): Promise<FileDesk> {
  const d = await fileDesk({ backend, storage: memoryStore(data) });
  await d.harness.selectOrCreateThread();
  while (d.harness.getDisplayState().isRunning) await new Promise((resolve) => setTimeout(resolve, 2));
  return d;
}

async function journalOf(data: MemoryData): Promise<DurableEvent[]> {
  const store = memoryStore(data);
  const [thread] = await store.threads();
  return thread ? store.read(thread.id) : [];
}

const changesIn = (events: readonly DurableEvent[]) => events.filter((event) => event.type === "file_changed");

const edit = (old_string: string, new_string: string): [string, Args] => [
  "edit_file",
  { file_path: "a.txt", old_string, new_string },
];

for (const { point, now, recorded, next } of [
  { point: "read", now: "old", recorded: 0, next: /^Edited/ },
  { point: "write", now: "old", recorded: 1, next: /has changed since this thread last read or wrote it/ },
  { point: "written", now: "new", recorded: 1, next: /old_string was not found/ },
] as const) {
  test(`an edit that dies at "${point}" is reported as unknown, is not run again, and can be reverted`, async () => {
    const data = new MemoryData();
    const backend = new MapBackend({ "/a.txt": "old" });
    const before = await fileDesk({ backend, storage: memoryStore(data) });
    await before.ok("read_file", { file_path: "a.txt" });
    await before.harness.close();
    await dieAt(data, backend, point, edit("old", "new"));
    assert.equal(backend.text("/a.txt"), now);
    await using d = await nextProcess(data, backend);
    const journal = await journalOf(data);
    assert.equal(changesIn(journal).length, recorded);
    const end = journal.findLast((event) => event.type === "tool_end")!;
    assert.equal(end.unknown, true);
    assert.match(String(end.result.content), /Its outcome is unknown: verify before retrying/);
    assert.equal(backend.text("/a.txt"), now);
    const [again] = await d.calls(edit("old", "new"));
    assert.match(again!.text, next);
    await undo(changesIn(await journalOf(data)), backend, memoryStore(data));
    assert.equal(backend.text("/a.txt"), "old");
  });
}

test("what another program wrote after the crash stays when the rest is reverted", async () => {
  for (const point of ["write", "written"] as const) {
    const data = new MemoryData();
    const backend = new MapBackend();
    await dieAt(data, backend, point, ["write_file", { file_path: "a.txt", content: "mine" }]);
    backend.put("/a.txt", "theirs");
    await undo(changesIn(await journalOf(data)), backend, memoryStore(data));
    assert.equal(backend.text("/a.txt"), "theirs");
  }
});

test("after a failed write, the journal says that the file is unchanged, and a retry needs no new read", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  d.backend.hook = (operation) => {
    if (operation === "write") throw new FileError("failed", "/a.txt", "a.txt: no space left");
  };
  assert.equal(await d.fails(...edit("old", "new")), "a.txt: no space left");
  const told = d.changes.map(({ operation, before, after }) => [operation, before!.hash === after!.hash]);
  assert.deepEqual(told, [
    ["edit", false],
    ["restore", true],
  ]);
  d.backend.hook = () => undefined;
  await d.ok(...edit("old", "new"));
});

test("a write that failed after it was done stays in the journal", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  d.backend.hook = (operation) => {
    if (operation === "written") throw new FileError("failed", "/a.txt", "a.txt: not synced");
  };
  assert.equal(await d.fails(...edit("old", "new")), "a.txt: not synced");
  d.backend.hook = () => undefined;
  assert.equal(d.changes.length, 1);
  await d.ok(...edit("new", "newer"));
});

test("an abort while a file is read does not change the file", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  let aborted: Promise<unknown> = Promise.resolve();
  d.backend.hook = async (operation) => {
    if (operation !== "read") return;
    aborted = d.harness.abort();
    while (!d.events.some(({ type }) => type === "abort_requested"))
      await new Promise((resolve) => setTimeout(resolve, 1));
  };
  assert.equal((await d.send(edit("old", "new"))).reason, "aborted");
  await aborted;
  assert.equal(d.backend.text("/a.txt"), "old");
  assert.deepEqual(d.changes, []);
});

test("a call that waits for one that hangs is aborted with the turn", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  const hangs = Promise.withResolvers<void>();
  d.backend.hook = (operation) => {
    if (operation !== "write") return;
    hangs.resolve();
    return new Promise(() => undefined);
  };
  const turn = d.send(edit("old", "new"), edit("old", "newer"));
  await hangs.promise;
  await d.harness.abort();
  assert.equal((await turn).reason, "aborted");
  const unknown = d.events.flatMap((event) => (event.type === "tool_end" ? [event.unknown ?? false] : []));
  assert.deepEqual(unknown.toSorted(), [false, false, true]);
});

test("after any operations and any crash, a rewind restores the thread's files, and no others", async () => {
  const path = fc.constantFrom("/a.txt", "/d/b.txt", "/d/c.txt");
  const word = fc.constantFrom("one", "two", "three", "one two");
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("write" as const), path, word }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("edit" as const), path, word }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("delete" as const), path: fc.oneof(path, fc.constant("/d")), word }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("theirs" as const), path, word }) },
  );
  const run = fc.record({
    actions: fc.array(action, { minLength: 1, maxLength: 6 }),
    point: fc.constantFrom(...POINTS),
  });
  let deaths = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 3 }), async (runs) => {
      const data = new MemoryData();
      const backend = new MapBackend({ "/a.txt": "zero", "/d/b.txt": "zero" });
      /** What must not be lost: the first contents, or the last contents from another program. */
      const owned = new Map<string, string | undefined>([...backend.files.keys()].map((one) => [one, "zero"]));
      for (const { actions, point } of runs) {
        const d = await nextProcess(data, backend);
        for (const [at, { do: what, path: where, word: text }] of actions.entries()) {
          if (what === "theirs") {
            backend.put(where, `their ${text}`);
            owned.set(where, `their ${text}`);
            continue;
          }
          if (backend.files.has(where)) await d.calls(["read_file", { file_path: where }]);
          const old = backend.text(where)?.split(" ")[0] ?? "none";
          const calls: Record<"write" | "edit" | "delete", [string, Args]> = {
            write: ["write_file", { file_path: where, content: text }],
            edit: ["edit_file", { file_path: where, old_string: old, new_string: text }],
            delete: ["delete", { file_path: where }],
          };
          if (at < actions.length - 1) await d.calls(calls[what]);
          else {
            await d.harness.close();
            if (await dieAt(data, backend, point, calls[what])) deaths++;
          }
        }
        await d.harness.close();
      }
      const last = await nextProcess(data, backend);
      await last.harness.close();
      await undo(changesIn(await journalOf(data)), backend, memoryStore(data));
      for (const one of ["/a.txt", "/d/b.txt", "/d/c.txt"]) assert.equal(backend.text(one), owned.get(one), one);
    }),
    { numRuns: 25 },
  );
  assert.ok(deaths > 5);
});
