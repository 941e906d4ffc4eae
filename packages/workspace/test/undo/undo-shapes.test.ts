/** Files, folders and links that replace each other. The dry run must report what the rewind then does. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { ThreadFiles } from "@cinch/core/workspace";
import { createWorkspace, localWorkspace, memoryBackend, threadBackend } from "@cinch/workspace";
import { desk, folder, outcomes, read, remove, run, write, type Calls, type Folder } from "./desk.ts";

type Desk = Awaited<ReturnType<typeof desk>>;

/** Rewinds, after a dry run that must report the same outcomes. */
async function rewound(h: Desk, toSeq: number) {
  const said = await h.rewind({ toSeq, files: true, dryRun: true });
  const done = await h.rewind({ toSeq, files: true });
  assert.deepEqual(done, said);
  return outcomes(done.files);
}

const before = { a: "a file\n", "in/b": "in a folder\n", "in/deep/er/c": "deep\n", "other/d": "other\n" };

const shapes: Record<string, string> = {
  "a file that became nested folders": "rm a && mkdir -p a/b/c/d && echo x > a/b/c/d/e",
  "a file that became nested folders with files at every depth":
    "rm a && mkdir -p a/b/c && echo x | tee a/x a/b/x a/b/c/x",
  "a file that became empty nested folders": "rm a && mkdir -p a/b/c a/d/e",
  "a file that became a folder with links in it": "rm a && mkdir -p a/b && ln -s ../in a/in && ln -s nowhere a/b/none",
  "a file that became a link to a file": "rm a && ln -s in/b a",
  "a file that became a link to a folder": "rm a && ln -s in a",
  "a file that became a link to nowhere": "rm a && ln -s none a",
  "a folder that became a file": "rm -r in && echo x > in",
  "a folder that became a link to another one": "rm -r in && ln -s other in",
  "a folder that became a link to nowhere": "rm -r in && ln -s none in",
  "a folder that became a link out of the workspace": "rm -r in && ln -s /etc in",
  "a folder in the middle that became a file": "rm -r in/deep && echo x > in/deep",
  "a folder in the middle that became a link": "mv in/deep deep && ln -s ../deep in/deep",
  "a file and a folder that changed places": "mv a t && mv in a && mv t in",
  "a folder that moved into one that took its name": "mv in t && mkdir in && mv t in/in",
  "files that became folders, one in the other":
    "rm in/b && mkdir -p in/b/b/b && mv a in/b/b/b/b && mkdir a && mv in/deep a",
};

describe("a rewind restores", () => {
  for (const [what, command] of Object.entries(shapes)) {
    test(`${what}, as its dry run says`, async () => {
      using root = folder(before);
      await using h = await desk({ root: root.path });
      const seq = await h.turn(run(command));
      const files = await rewound(h, seq);
      assert.deepEqual(root.all(), before, JSON.stringify(files));
      for (const outcome of Object.values(files)) assert.match(outcome, /^(restored|deleted)$/);
      for (const name of ["a", "in", "in/deep", "in/b"]) assert.ok(!isLink(root, name), name);
    });
  }

  test("a file that became a folder over several turns", async () => {
    using root = folder(before);
    await using h = await desk({ root: root.path });
    const seq = await h.turn(remove("a"), write("a/x", "1\n"));
    await h.turn(remove("a/x"), write("a/x/y", "2\n"));
    await h.turn(run("rm -r a && mkdir -p a/x/y/z && echo 3 > a/x/y/z/file"));
    await rewound(h, seq);
    assert.deepEqual(root.all(), before);
  });

  for (const [name, backend] of Object.entries({ memory: memoryBackend, thread: threadBackend })) {
    test(`the same in a backend that is no disk: ${name}`, async () => {
      using root = folder();
      const workspace = createWorkspace({ backend: backend() });
      await using h = await desk({ root: root.path, workspace });
      await h.turn(write("a", "1\n"), write("in/b", "1\n"));
      const seq = await h.turn(remove("a"), write("a/b/c/d", "2\n"), remove("in/"), write("in", "2\n"));
      const said = await h.rewind({ toSeq: seq, files: true, conversation: false, dryRun: true });
      const { files } = await h.rewind({ toSeq: seq, files: true, conversation: false });
      assert.deepEqual(files, said.files);
      assert.deepEqual(outcomes(files), {
        "/a": "restored",
        "/a/b/c/d": "deleted",
        "/in": "deleted",
        "/in/b": "restored",
      });
    });
  }
});

const isLink = ({ path }: Folder, name: string) => lstatSync(join(path, name)).isSymbolicLink();

/** An obstacle that appears after the command. It stays, and the file that it blocks is a conflict. */
const obstacles: Record<string, { command: string; after(root: Folder): void; conflict: string; detail: RegExp }> = {
  "a file in a folder that took a file's place": {
    command: "rm a && mkdir -p a/b/c && echo x > a/b/c/d",
    after: (root) => root.put("a/b/mine", "mine\n"),
    conflict: "/a",
    detail: /a\/b\/mine/,
  },
  "an ignored file in such a folder": {
    command: "rm a && mkdir -p a/b",
    after: (root) => root.put("a/b/node_modules/m/mine", "mine\n"),
    conflict: "/a",
    detail: /node_modules/,
  },
  "a file whose name is not UTF-8 in such a folder": {
    command: "rm a && mkdir -p a/b",
    after: ({ path }) => execFileSync("bash", ["-c", `echo mine > '${path}'/a/b/$'caf\\xe9'`]),
    conflict: "/a",
    detail: /A directory is in its place/,
  },
  "a pipe in such a folder": {
    command: "rm a && mkdir -p a/b",
    after: ({ path }) => execFileSync("mkfifo", [join(path, "a/b/pipe")]),
    conflict: "/a",
    detail: /a\/b\/pipe/,
  },
  "a link to nowhere in such a folder": {
    command: "rm a && mkdir -p a/b",
    after: ({ path }) => symlinkSync("none", join(path, "a/b/link")),
    conflict: "/a",
    detail: /a\/b\/link/,
  },
  "a file where a folder was": {
    command: "rm -r in/deep",
    after: (root) => root.put("in/deep", "mine\n"),
    conflict: "/in/deep/er/c",
    detail: /in\/deep is in its way/,
  },
  "a link where a folder was": {
    command: "rm -r in/deep",
    after: ({ path }) => symlinkSync("../other", join(path, "in/deep")),
    conflict: "/in/deep/er/c",
    detail: /in\/deep is in its way/,
  },
  "a folder with files where a file was": {
    command: "rm a",
    after: (root) => root.put("a/mine", "mine\n"),
    conflict: "/a",
    detail: /a\/mine/,
  },
};

describe("an obstacle that is not the thread's stays, and the dry run reports it", () => {
  for (const [what, { command, after, conflict, detail }] of Object.entries(obstacles)) {
    test(what, async () => {
      using root = folder(before);
      await using h = await desk({ root: root.path });
      const seq = await h.turn(run(command));
      after(root);
      const mine = listing(root).filter((line) => /mine|caf|pipe|link/.test(line));
      const said = await h.rewind({ toSeq: seq, files: true, dryRun: true });
      const done = await h.rewind({ toSeq: seq, files: true });
      assert.deepEqual(done, said);
      const file = done.files.find(({ path }) => path === conflict);
      assert.equal(file?.outcome, "conflict");
      assert.match(file?.detail ?? "", detail);
      assert.deepEqual(
        listing(root).filter((line) => mine.includes(line)),
        mine,
      );
    });
  }
});

const listing = ({ path }: Folder) => execFileSync("find", [path], { encoding: "latin1" }).split("\n").toSorted();

test("a restore that died after it removed a link is continued", async () => {
  using root = folder({ b: "b\n" });
  using cache = folder();
  const { undo } = localWorkspace({ root: root.path, sandbox: "none", cache: cache.path });
  const bytes = new TextEncoder().encode("mine\n");
  const to = { hash: "of mine", size: bytes.length, parts: [{ blob: "one", size: bytes.length }] };
  const files = { resourceId: "r", record: async () => true, blob: async () => bytes } as unknown as ThreadFiles;
  const done = await undo.restore([{ path: "/a", from: "link", to }], { threadId: "t", files });
  assert.deepEqual(outcomes(done), { "/a": "restored" });
  assert.deepEqual(root.all(), { a: "mine\n", b: "b\n" });
});

const word = fc.constantFrom("a", "b", "a/b", "a/b/c", "b/a", "b/a/b/c", "c");
const quiet = (command: string) => `(${command}) 2>/dev/null; true`;
const change: fc.Arbitrary<Calls> = fc.oneof(
  word.map((path) => run(quiet(`rm -rf ${path}; mkdir -p $(dirname ${path}); echo ${path} > ${path}`))),
  word.map((path) => run(quiet(`rm -rf ${path}; mkdir -p ${path}`))),
  fc
    .tuple(word, word)
    .map(([path, to]) => run(quiet(`rm -rf ${path}; mkdir -p $(dirname ${path}); ln -s ${to} ${path}`))),
  fc.tuple(word, word).map(([path, to]) => run(quiet(`mkdir -p $(dirname ${to}); mv -T ${path} ${to}`))),
  word.map((path) => run(quiet(`rm -rf $(echo ${path} | cut -d/ -f1); echo top > $(echo ${path} | cut -d/ -f1)`))),
);

test("after any changes of files, folders and links, the rewind does what its dry run says, and restores the files", async () => {
  const runs = Number(process.env.UNDO_RUNS ?? 12);
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
      using root = folder({ a: "a\n", "b/a/b/c": "deep\n", "b/x": "x\n" });
      await using h = await desk({ root: root.path });
      const then = root.all();
      const seq = await h.turn(...changes, read("b/x"));
      const files = await rewound(h, seq);
      assert.deepEqual(root.all(), then, JSON.stringify({ files, changes }));
      assert.ok(!Object.values(files).some((outcome) => /conflict|failed/.test(outcome)), JSON.stringify(files));
    }),
    { numRuns: runs },
  );
});

test("empty folders that were there stay as they are", async () => {
  using root = folder({ a: "a\n" });
  mkdirSync(join(root.path, "empty/er"), { recursive: true });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("rm a && mkdir -p a/b"));
  await rewound(h, seq);
  assert.ok(existsSync(join(root.path, "empty/er")));
});
