import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions } from "esbuild";
import { builtPage } from "../../../apps/web/build/built-page.ts";

const root = join(import.meta.dirname, "../../..");
const packages = join(root, "packages");
const worker = join(packages, "sqlite/src/worker.ts");
/** What a workspace starts in a thread and in a process. */
const hosts = ["virtual/worker.ts", "sandboxes/srt-host.ts"].map((file) => join(packages, "workspace/src", file));

/** Bundles one program: see `bundleAll`. */
export async function bundle(program: URL): Promise<string> {
  const [file = ""] = await bundleAll([fileURLToPath(program)]);
  return file;
}

/**
 * Bundles programs of a package. They start in half the CPU time that the sources take, and need no flags. They lie in a copy of their
 * package without sources, so they find the files and the third-party packages that the package has, and `bin.js` finds them. The test
 * processes of a run share the bundles, and so the code that Node has cached for them.
 */
export async function bundleAll(programs: readonly string[]): Promise<string[]> {
  const shared = process.env["TEST_BUNDLES"];
  const home = shared === undefined ? ownFolder() : await sharedHome(shared, programs);
  if (shared === undefined) await writeBundles(home, programs);
  return programs.map((program) => join(home, OUT, `${basename(program, ".ts")}.js`));
}

/** For the tests of this process. */
function ownFolder(): string {
  const home = mkdtempSync(join(tmpdir(), "cinch-bundle-"));
  process.once("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  // Some tests run a program as another user.
  chmodSync(home, 0o755);
  return home;
}

/** The folder with these programs. The process that makes the lock writes it, and the others wait. */
async function sharedHome(folder: string, programs: readonly string[]): Promise<string> {
  const home = join(folder, createHash("sha256").update(programs.join("\n")).digest("hex").slice(0, 16));
  mkdirSync(folder, { recursive: true });
  for (; !existsSync(home); await sleep(20)) {
    if (!hasMade(`${home}.lock`)) continue;
    try {
      const writing = `${home}.writing`;
      rmSync(writing, { recursive: true, force: true, maxRetries: 9 });
      mkdirSync(writing);
      await writeBundles(writing, programs);
      renameSync(writing, home);
    } finally {
      rmdirSync(`${home}.lock`);
    }
  }
  return home;
}

function hasMade(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

async function writeBundles(home: string, programs: readonly string[]): Promise<void> {
  const source = packageOf(programs[0]!);
  const place = join(home, "package");
  mkdirSync(place);
  for (const file of ["package.json", "bin.js"])
    if (existsSync(join(source, file))) copyFileSync(join(source, file), join(place, file));
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  if (existsSync(join(source, "node_modules"))) symlinkSync(join(source, "node_modules"), join(place, "node_modules"));
  const out = join(home, OUT);
  const [{ metafile }] = await Promise.all([
    build({
      ...OPTIONS,
      entryPoints: [...programs, ...hosts],
      entryNames: "[name]",
      outdir: out,
      format: "esm",
      // What a program imports late, and what programs share, stays in files of its own.
      splitting: true,
      banner: { js: REQUIRE },
      external: WITH_FILES,
      metafile: true,
    }),
    build({ ...OPTIONS, entryPoints: [worker], outfile: join(out, "worker.cjs"), format: "cjs" }),
  ]);
  if (Object.keys(metafile.inputs).some((file) => file.endsWith("apps/web/src/web-page.ts")))
    await writePage(join(out, "built"));
}

/** The files that `webPage()` finds beside itself. */
async function writePage(folder: string): Promise<void> {
  mkdirSync(folder);
  for (const [name, bytes] of await builtPage()) writeFileSync(join(folder, name), bytes);
}

/** Where the programs lie in the folder of a bundle. */
const OUT = "package/dist";

const OPTIONS: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node24",
  conditions: ["@cinch/source"],
  logLevel: "error",
};

/** Third-party packages that read files of their own. */
const WITH_FILES = ["@anthropic-ai/sandbox-runtime", "@vscode/ripgrep", "just-bash", "web-tree-sitter"];

/** Some third-party packages are CommonJS. Its name must not be one that a bundled file imports. */
const REQUIRE =
  'import { createRequire as bundleRequire } from "node:module"; const require = bundleRequire(import.meta.url);';

const packageOf = (file: string): string =>
  existsSync(join(dirname(file), "package.json")) ? dirname(file) : packageOf(dirname(file));
