/**
 * npm run example [NAME [ARGUMENTS]]
 *
 * Runs one of the programs in `examples/` in a temporary folder that is deleted afterwards, so that it may write to relative paths as in
 * a project of its own. Without a name, it lists them, each with the first sentence of its first comment.
 */
import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The recommended reading order. */
const ORDER = [
  "first",
  "tools",
  "approvals",
  "plan-mode",
  "workspace",
  "undo",
  "sse-server",
  "slack-bot",
  "express",
  "hono",
  "approve-afar",
  "use-chat",
  "ag-ui",
  "workers",
];

interface Example {
  name: string;
  file: string;
  about: string;
}

const folder = join(import.meta.dirname, "..", "examples");
const examples = globSync(["*.ts", "*/main.ts"], { cwd: folder })
  .map((file) => ({
    name: file.replace(/(\/main)?\.ts$/, ""),
    file: join(folder, file),
    about: aboutOf(join(folder, file)),
  }))
  .toSorted((a, b) => positionOf(a) - positionOf(b) || a.name.localeCompare(b.name));

const [wanted, ...args] = process.argv.slice(2);
const exact = examples.filter(({ name }) => name === wanted);
const similar = exact.length > 0 ? exact : examples.filter(({ name }) => wanted && name.includes(wanted));

if (wanted === undefined) {
  console.log("npm run example NAME runs one of these, with a scripted model: no key, no network.\n");
  console.log(listed(examples));
} else if (similar.length === 1) {
  process.exitCode = await run(similar[0]!);
} else {
  console.error(`There is no example "${wanted}". The examples are:\n\n${listed(examples)}`);
  process.exitCode = 2;
}

/** The exit code of the program, or 128 plus the number of the signal that ended it. */
async function run({ file }: Example): Promise<number> {
  const cwd = mkdtempSync(join(tmpdir(), "cinch-example-"));
  try {
    const child = spawn(process.execPath, ["-C", "@cinch/source", file, ...args], { cwd, stdio: "inherit" });
    // The terminal sends Ctrl-C to both processes. The program ends first, then its folder is deleted.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    return await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    rmSync(cwd, { recursive: true, force: true, maxRetries: 3 });
  }
}

function positionOf({ name }: Example): number {
  const at = ORDER.indexOf(name);
  return at === -1 ? ORDER.length : at;
}

function aboutOf(file: string): string {
  const comment = /\/\*\*(.*?)\*\//s.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  const text = comment
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

function listed(all: readonly Example[]): string {
  return all.map(({ name, about }) => `  ${name.padEnd(14)}${about}`).join("\n");
}
