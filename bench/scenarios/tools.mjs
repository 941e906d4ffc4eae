/**
 * The file tools as a model calls them, compared with the plain binary of ripgrep for the same search. Both run alternately, so that
 * other load on the machine affects both.
 */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { median } from "../lib/numbers.mjs";

const root = process.env.CINCH_ROOT ?? join(import.meta.dirname, "../..");
const built = join(root, "packages/workspace/dist/index.js");

const FOLDERS = 100;
const FILES = 100;
const RULES = [
  { operations: ["read", "write"], paths: ["/**/.env*", "/secrets/**", "**/*.pem"], mode: "deny" },
  { operations: ["write"], paths: ["/src/**"], mode: "allow" },
];

export default async function tools({ folder, now, times = 7 }) {
  const { createWorkspace, directoryBackend } = await import(pathToFileURL(built).href);
  const { rgPath } = createRequire(built)("@vscode/ripgrep");
  makeTree(folder);
  const place = (permissions) => createWorkspace({ backend: directoryBackend({ root: folder }), permissions }).tools;
  const [free, ruled] = [place([]), place(RULES)];
  const plain = (...args) =>
    output(rgPath, ["--no-config", "--hidden", "--no-require-git", "--no-ignore-parent", ...args], folder);

  const timed = async (work) => {
    const from = now();
    const result = await work();
    return { ms: now() - from, result };
  };
  /** Medians of a tool with and without path rules, of ripgrep, and optionally of a simpler search. Throws if the results differ. */
  const beside = async (tool, args, rg, found, less) => {
    const taken = { free: [], ruled: [], rg: [], less: [] };
    for (let turn = 0; turn <= times; turn++) {
      const one = await timed(() => call(free[tool], args));
      const other = await timed(() => call(ruled[tool], args));
      const raw = await timed(() => plain(...rg));
      const fewer = less && (await timed(() => plain(...less)));
      const lines = raw.result.split("\n").length - 1;
      if (found(one.result) !== lines || found(other.result) !== lines)
        throw new Error(`${tool} found ${found(one.result)} and ${found(other.result)}, ripgrep ${lines}`);
      // The first turn compiles the code and fills the disk cache, so it does not count.
      if (turn === 0) continue;
      taken.free.push(one.ms);
      taken.ruled.push(other.ms);
      taken.rg.push(raw.ms);
      if (fewer) taken.less.push(fewer.ms);
    }
    const lessMs = less && median(taken.less);
    return { ms: median(taken.free), ruledMs: median(taken.ruled), rgMs: median(taken.rg), lessMs };
  };
  const results = {};
  const keep = (name, { ms, ruledMs, rgMs, lessMs }) => {
    Object.assign(results, { [`${name}Ms`]: ms, [`${name}RuledMs`]: ruledMs, [`${name}RgMs`]: rgMs });
    if (lessMs !== undefined) results[`${name}UnsortedMs`] = lessMs;
  };
  const files = ({ details }) => details.files;
  const lines = ({ details }) => details.lines;
  for (const [amount, pattern] of [
    ["few", "needleInHay"],
    ["many", "return value"],
  ]) {
    const text = ["--fixed-strings", pattern];
    keep(`${amount}Files`, await beside("grep", { pattern }, ["--files-with-matches", ...text], files));
    keep(
      `${amount}Content`,
      await beside("grep", { pattern, output_mode: "content" }, ["--line-number", ...text], lines),
    );
    keep(`${amount}Count`, await beside("grep", { pattern, output_mode: "count" }, ["--count", ...text], files));
  }
  // `glob` sorts by time, so ripgrep must, too. The unsorted search is measured as well, for comparison.
  const total = ({ details }) => details.total;
  const globs = [
    ["glob", "**/*7.ts", ["--files", "--glob=**/*7.ts"]],
    ["globAll", "**", ["--files"]],
  ];
  for (const [name, pattern, rg] of globs)
    keep(name, await beside("glob", { pattern }, [...rg, "--sortr=modified"], total, rg));

  const gigabyte = join(folder, "huge.log");
  const line = `${"a line of a log ".repeat(4).slice(1)}\n`;
  for (let at = 0; at < 64; at++) appendFileSync(gigabyte, line.repeat(2 ** 18));
  writeFileSync(join(folder, "edited.ts"), `${"const value = 1; // a line\n".repeat(40_000)}const last = 1;\n`);
  const [reads, edits] = [[], []];
  for (let turn = 0; turn < times; turn++) {
    reads.push((await timed(() => call(free.read_file, { file_path: "huge.log", offset: 2 ** 23, limit: 100 }))).ms);
    await call(free.read_file, { file_path: "edited.ts" });
    const change = { old_string: `const last = ${turn + 1};`, new_string: `const last = ${turn + 2};` };
    edits.push((await timed(() => call(free.edit_file, { file_path: "edited.ts", ...change }))).ms);
  }
  return { ...results, readMs: median(reads), editMs: median(edits) };
}

/** 10,000 files of about 2 KB. Twenty of them contain the needle; each has three lines with the common text. */
function makeTree(folder) {
  for (let at = 0; at < FOLDERS; at++) {
    const path = join(folder, "src", `part${at}`, "lib");
    mkdirSync(path, { recursive: true });
    for (let no = 0; no < FILES; no++) {
      const needle = no === 42 && at % 5 === 0 ? "// needleInHay\n" : "";
      const code = Array.from({ length: 60 }, (_, line) =>
        line % 20 === 0 ? `  return value${line};\n` : `  const name${line} = call(${at}, ${no});\n`,
      );
      writeFileSync(join(path, `file${no}.ts`), needle + code.join(""));
    }
  }
}

const seen = new Map();
const threadFiles = {
  resourceId: "bench",
  seen: (path) => seen.get(path),
  read: (path, version) => seen.set(path, version),
  async record(decide) {
    for (const { path, version } of decide({}) ?? []) seen.set(path, version);
    return true;
  },
};

const CALL = { threadId: "t", resourceId: "bench", toolCallId: "c", key: "k", pathRules: [] };

/** Checks the policy and then runs the tool, as the harness does. */
async function call(tool, args) {
  const signal = new AbortController().signal;
  const context = { ...CALL, signal, files: threadFiles };
  await tool.policy(args, context);
  return tool.execute(args, context);
}

function output(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });
}
