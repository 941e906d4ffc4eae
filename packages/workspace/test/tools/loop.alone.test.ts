/** A tool never blocks the event loop for long, however much it works on. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { FileChange, ThreadFiles } from "@cinch/core/workspace";
import { bestOfThree } from "../../../testkit/test/best-of-three.ts";
import { shareOf } from "../../../testkit/test/share.ts";
import { createWorkspace, directoryBackend, localWorkspace, memoryBackend, type Backend } from "@cinch/workspace";
import { frozenFiles } from "../../src/frozen/frozen-files.ts";

/** The aim is 50 ms. A machine that is busy with other tests may take three times as long for the same work. */
const LIMIT_MS = 150;
const MB = 1_000_000;

/** The CPU time of this thread. Elapsed time would include other processes. */
const computedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The longest time for which the event loop was blocked. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = computedMs();
  const look = () => {
    const now = computedMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  // The work of the test itself does not count.
  await new Promise((go) => setTimeout(go, 5));
  longest = 0;
  try {
    await work();
  } finally {
    look();
    clearInterval(timer);
  }
  return longest;
}

function threadFiles(): ThreadFiles {
  const seen = new Map<string, string>();
  const blobs = new Map<string, Uint8Array>();
  const files: Partial<ThreadFiles> = {
    resourceId: "r",
    seen: (path) => seen.get(path),
    read: (path, version) => void seen.set(path, version),
    checkpoint: async () => {},
    blob: async (hash) => blobs.get(hash),
    async record(decide, some = []) {
      for (const { hash, bytes } of some) blobs.set(hash, bytes);
      for (const { path, version } of decide({}) ?? []) if (version !== undefined) seen.set(path, version);
      return true;
    },
  };
  return files as ThreadFiles;
}

const root = mkdtempSync(join(tmpdir(), "cinch-loop-"));
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 9 }));
let folders = 0;

const backends: Record<string, () => Backend> = {
  "on a disk": () => {
    const path = join(root, `${++folders}`);
    mkdirSync(path);
    return directoryBackend({ root: path });
  },
  "in memory": () => memoryBackend(),
};

type Tools = Record<string, { execute(args: unknown, context: unknown): Promise<{ content: unknown }> }>;

/** A workspace with these files, which the thread has read. */
async function workspace(backend: Backend, texts: Record<string, string>) {
  const made = createWorkspace({ backend });
  await made.upload(texts);
  const files = threadFiles();
  const signal = new AbortController().signal;
  const context = { threadId: "t", resourceId: "r", toolCallId: "c", key: "k:1", signal, files, pathRules: [] };
  const reach = { threadId: "t", resourceId: "r" };
  for (const path of Object.keys(texts)) files.read(path, (await backend.stat(path, reach))!.version);
  const call = async (tool: string, args: unknown) =>
    (made.tools as unknown as Tools)[tool]!.execute(args, context).then(
      ({ content }) => `${content}`,
      (error: Error) => error.message,
    );
  return { made, files, call };
}

interface Worst {
  text: string;
  tool: string;
  args: Record<string, unknown>;
  says: RegExp;
}

const edit = (old_string: string, new_string: string, replace_all = true) => ({
  tool: "edit_file",
  args: { old_string, new_string, replace_all },
});
const done = (places: number) => new RegExp(`^Edited f: ${places} places changed`);
const missing = /^old_string was not found/;
const long = (text: string, size = 5 * MB) => text.repeat(Math.ceil(size / text.length)).slice(0, size);

const numbered = (what: string) => Array.from({ length: 80_000 }, (_, at) => `${what} ${at}\n`).join("");
/** Common lines with 180 lines between them, of which no line is in the same place on the other side. */
const regions = (what: string) =>
  Array.from({ length: 180 }, (_, at) => `common ${at}\n${`${what} ${at}\n{\n${what}\n}\n`.repeat(45)}`).join("");

const worst: Record<string, () => Worst> = {
  "edit_file, 1,000,000 places in one line": () => ({
    text: long("a,", 2 * MB),
    ...edit(",", ";"),
    says: done(1_000_000),
  }),
  "edit_file, 1,000,000 line breaks into one line": () => ({
    text: long("ab,", 3 * MB),
    ...edit(",", ",\n"),
    says: done(1_000_000),
  }),
  "edit_file, 400,000 line breaks into lines that end in CRLF": () => ({
    text: long("a,b\r\n", 2 * MB),
    ...edit(",", ",\n"),
    says: done(400_000),
  }),
  "edit_file, every line removed": () => ({ text: long("ab\n", 3 * MB), ...edit("b\n", ""), says: done(1_000_000) }),
  "edit_file, a place that is found a million times": () => ({
    text: long("ab\n", 3 * MB),
    ...edit("b", "c", false),
    says: /found 1000000 times .* at lines 1, 2, 3/,
  }),
  "edit_file, a text that is nearly everywhere": () => ({
    text: long("a"),
    ...edit(`b${long("a", 10_000)}`, "x"),
    says: missing,
  }),
  "edit_file, a text that differs in its second character": () => ({
    text: long("a"),
    ...edit(`ab${long("a", 10_000)}`, "x"),
    says: missing,
  }),
  "edit_file, a text that differs in its second character, with another kind of line break": () => ({
    text: long("a"),
    ...edit(`ab${long("a", 10_000)}\r\n`, "x"),
    says: missing,
  }),
  "edit_file, a row of numbers that differs near its beginning": () => ({
    text: `${long("0,")}0,1,${long("0,", 10_000)}`,
    ...edit(`0,1,${long("0,", 10_000)}`, "x", false),
    says: /^Edited f: 1 place/,
  }),
  "edit_file, a text that differs after 1,000 characters": () => ({
    text: long("a"),
    ...edit(`${long("a", 1_000)}b${long("a", 10_000)}`, "x"),
    says: missing,
  }),
  "edit_file, half of a text that differs in its middle": () => ({
    text: long("ab"),
    ...edit(`${long("ab", MB)}c${long("ab", MB)}`, "x"),
    says: missing,
  }),
  "edit_file, 10 MB in common at both ends": () => ({
    text: `${long("a", 10 * MB)}x${long("a", 10 * MB)}`,
    ...edit(`${long("a", 10 * MB)}x${long("a", 10 * MB)}`, `${long("a", 10 * MB)}y${long("a", 10 * MB)}`),
    says: /^Edited f: 1 place/,
  }),
  "edit_file, nothing found in one line": () => ({ text: long("lorem ipsum "), ...edit("dolor", "x"), says: missing }),
  "edit_file, nothing found in 100,000 lines that are all alike": () => ({
    text: long(`${long("const value = call(argument); ", 99)}\n`, 10 * MB),
    ...edit(`${long("const value = call(argument); ", 90)} other`, "x"),
    says: /The most similar lines are/,
  }),
  "edit_file, found by passing over quotes and white space everywhere": () => ({
    text: long("\u201ca\u201d \u2014 b \t \n", 2 * MB),
    ...edit('"a" - b\n', "c\n"),
    says: /^Edited f: 1\d+ places changed\.\n\[old_string was not there as given/,
  }),
  "edit_file, a line of white space": () => ({ text: `x${long(" ")}\ny`, ...edit("x\nz", "x"), says: missing }),
  "edit_file, a white space that is looked for": () => ({
    text: `x\ny`,
    ...edit(`x${long(" ")}`, `x${long(" ")}y`),
    says: /^Edited f: 1 place/,
  }),
  "edit_file, old and new with 5 MB in common": () => ({
    text: long("abc\n"),
    ...edit(long("abc\n"), `${long("abc\n")}d`),
    says: /^Edited f: 1 place/,
  }),
  "write_file, 10 MB over 10 MB": () => ({
    text: long("a\n", 10 * MB),
    tool: "write_file",
    args: { content: long("b\n", 10 * MB) },
    says: /^Replaced f \(5000000 lines/,
  }),
  "write_file, 1 MB of other lines": () => ({
    text: numbered("a"),
    tool: "write_file",
    args: { content: numbered("b") },
    says: /^Replaced f/,
  }),
  "write_file, 1 MB with regions that differ everywhere": () => ({
    text: regions("a"),
    tool: "write_file",
    args: { content: regions("b") },
    says: /^Replaced f/,
  }),
  "write_file, 1 MB of empty lines over as many": () => ({
    text: `x${"\n".repeat(MB - 10)}x`,
    tool: "write_file",
    args: { content: `y${"\n".repeat(MB - 20)}y` },
    says: /^Replaced f/,
  }),
  "read_file, one line": () => ({ text: long("a", 10 * MB), tool: "read_file", args: {}, says: /lines 1-1 of 1/ }),
  "read_file, the end of one line": () => ({
    text: long("a", 10 * MB),
    tool: "read_file",
    args: { char_offset: 10 * MB - 10 },
    says: /characters 9999991-10000000/,
  }),
  "read_file, behind 2,000,000 lines": () => ({
    text: long("a\n", 4 * MB),
    tool: "read_file",
    args: { offset: 1_999_999 },
    says: /^lines 2000000-2000000 of 2000000/,
  }),
  "grep, 1,000,000 lines that match": () => ({
    text: long("ab\n", 3 * MB),
    tool: "grep",
    args: { pattern: "a", path: "f", output_mode: "content", max_count: 10_000, context: 20 },
    says: /stopped at 100000 lines/,
  }),
  "grep, lines that are full of carriage returns": () => ({
    text: long(`${long("\r", 1_900)}a\n`, 5 * MB),
    tool: "grep",
    args: { pattern: "a", path: "f", output_mode: "content", max_count: 10_000 },
    says: /^\d+ lines in 1 file/,
  }),
};

for (const [place, backend] of Object.entries(backends)) {
  describe(`a tool that works ${place} does not block the event loop`, () => {
    for (const [what, make] of shareOf(Object.entries(worst), place === "in memory" ? 2 : 1)) {
      test(what, { timeout: 300_000 }, async () => {
        const { text, tool, args, says } = make();
        await bestOfThree(LIMIT_MS, async () => {
          const { call } = await workspace(backend(), { "/f": text });
          let said = "";
          const blocked = await longestBlock(async () => {
            said = await call(tool, tool === "grep" ? args : { file_path: "f", ...args });
          });
          assert.match(said, says);
          return blocked;
        });
      });
    }
  });
}

describe("a tool that works on many files does not block the event loop", () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`/src/name-${at}.ts`, `${at}\n`]));

  test("ls of 20,000 files, and a name that is missing among them", { timeout: 300_000 }, async () => {
    const { call } = await workspace(memoryBackend(), many(20_000));
    for (const [tool, args, says] of [
      ["ls", { path: "src" }, /^20000 entries in src/],
      ["read_file", { file_path: "src/name-x.ts" }, /Did you mean/],
    ] as const) {
      await bestOfThree(LIMIT_MS, async () => {
        let said = "";
        const blocked = await longestBlock(async () => (said = await call(tool, args)));
        assert.match(said, says);
        return blocked;
      });
    }
  });

  const hostile: Record<string, string> = {
    "a line of blanks": `${" ".repeat(250_000)}x`,
    "long rules that nearly match": Array.from({ length: 300 }, (_, at) => `${"*[a-z]".repeat(140)}-${at}*`).join("\n"),
    "long rules for paths": Array.from({ length: 300 }, (_, at) => `/**/${"*a".repeat(400)}-${at}*`).join("\n"),
    "thousands of rules": Array.from({ length: 2_000 }, (_, at) => `*a*b*-${at}*`).join("\n"),
  };
  for (const [what, rules] of Object.entries(hostile)) {
    test(`glob and grep with an ignore file that has ${what}`, { timeout: 300_000 }, async () => {
      for (const backend of Object.values(backends)) {
        const names = Object.fromEntries(
          Array.from({ length: 20 }, (_, at) => [`/${"ab".repeat(100)}${at}/f`, "wanted"]),
        );
        const { call } = await workspace(backend(), { ...names, "/.gitignore": rules, "/.ignore": rules });
        for (const [tool, args, says] of [
          ["glob", { pattern: "**/f" }, /^20 matches/],
          ["grep", { pattern: "wanted" }, /^20 lines in 20 files/],
        ] as const) {
          await bestOfThree(LIMIT_MS, async () => {
            let said = "";
            const blocked = await longestBlock(async () => (said = await call(tool, args)));
            assert.match(said, says);
            return blocked;
          });
        }
      }
    });
  }

  test("the frozen files are looked for, and hooks lead far away", { timeout: 300_000 }, () =>
    bestOfThree(LIMIT_MS, async () => {
      const path = join(root, `${++folders}`);
      const hooks = join(path, ".git/hooks");
      mkdirSync(hooks, { recursive: true });
      for (let no = 0; no < 20; no++) symlinkSync(`${"a/".repeat(1_900)}${no}`, join(hooks, `${no}`));
      let found = 0;
      const blocked = await longestBlock(async () => {
        found = frozenFiles({ root: path, home: undefined }).length;
      });
      assert.ok(found > 40);
      return blocked;
    }),
  );

  test("a directory of 2,000 files is deleted", { timeout: 300_000 }, () =>
    bestOfThree(LIMIT_MS, async () => {
      const { call } = await workspace(memoryBackend(), many(2_000));
      let said = "";
      const blocked = await longestBlock(async () => (said = await call("delete", { file_path: "src" })));
      assert.match(said, /^Deleted src with 2000 files/);
      return blocked;
    }),
  );

  test("a command is watched among 2,000 files in one folder, and reverted", { timeout: 300_000 }, (t) =>
    bestOfThree(LIMIT_MS, async () => {
      const path = join(root, `${++folders}`);
      mkdirSync(path);
      const put = (text: string) => {
        for (let no = 0; no < 2_000; no++) writeFileSync(join(path, `${no}`), `${no} ${text}\n`);
      };
      put("old");
      const { undo } = localWorkspace({ root: path, sandbox: "none", cache: join(root, `cache-${folders}`) });
      const changes: FileChange[] = [];
      const own = threadFiles();
      const record: ThreadFiles["record"] = async (decide, blobs) => {
        changes.push(...(decide({}) ?? []));
        return own.record(decide, blobs);
      };
      const files: ThreadFiles = { ...own, record };
      const reach = { threadId: "t", files };
      const watch = { end: async (): Promise<unknown> => undefined };
      const blocks: Record<string, number> = {};
      blocks.before = await longestBlock(async () => {
        Object.assign(watch, await undo.watch(reach, new AbortController().signal));
      });
      put("new");
      blocks.after = await longestBlock(() => watch.end());
      assert.equal(changes.length, 2_000);
      blocks.diff = await longestBlock(() => undo.diff(changes, reach));
      const restores = changes.map(({ path: name, before, after: now }) => ({
        path: name,
        from: now!.hash,
        to: before,
      }));
      blocks.look = await longestBlock(() => undo.obstacles(restores, reach));
      blocks.restore = await longestBlock(() => undo.restore(restores, reach));
      await undo.close();
      t.diagnostic(JSON.stringify(blocks));
      return Math.max(...Object.values(blocks));
    }),
  );

  test("a diff of two files that have nothing in common", { timeout: 300_000 }, async () => {
    const { made, files } = await workspace(memoryBackend(), { "/f": long("some other line\n", MB) });
    const old = new TextEncoder().encode(Array.from({ length: 2_500 }, (_, at) => `${at}\n`).join(""));
    const before = { hash: "old", size: old.length, parts: [{ blob: "old", size: old.length }] };
    await files.record(() => [], [{ hash: "old", bytes: old }]);
    const reach = { threadId: "t", files };
    await bestOfThree(LIMIT_MS, () => longestBlock(() => made.undo.diff([{ path: "/f", before }], reach)));
  });
});
