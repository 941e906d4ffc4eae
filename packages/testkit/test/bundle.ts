import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions } from "esbuild";

const root = join(import.meta.dirname, "../../..");
const worker = join(root, "packages/sqlite/src/worker.ts");

/**
 * Bundles a program of a package for the tests of this process. It starts in two thirds of the CPU time that the sources take, and needs no
 * flags. It lies in a copy of its package without sources, so it finds the files and the third-party packages that the package has.
 */
export async function bundle(program: URL): Promise<string> {
  const file = fileURLToPath(program);
  const home = mkdtempSync(join(tmpdir(), "cinch-bundle-"));
  process.once("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  // Some tests run a program as another user.
  chmodSync(home, 0o755);
  const place = join(home, "package");
  const source = packageOf(file);
  mkdirSync(place);
  copyFileSync(join(source, "package.json"), join(place, "package.json"));
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  if (existsSync(join(source, "node_modules"))) symlinkSync(join(source, "node_modules"), join(place, "node_modules"));
  const out = join(place, "dist");
  await Promise.all([
    // What the program imports late stays in files of its own.
    build({ ...OPTIONS, entryPoints: [file], outdir: out, format: "esm", splitting: true, banner: { js: REQUIRE } }),
    build({ ...OPTIONS, entryPoints: [worker], outfile: join(out, "worker.cjs"), format: "cjs" }),
  ]);
  return join(out, `${basename(file, ".ts")}.js`);
}

const OPTIONS: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node24",
  conditions: ["@cinch/source"],
  logLevel: "error",
};

/** Some third-party packages are CommonJS. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

const packageOf = (file: string): string =>
  existsSync(join(dirname(file), "package.json")) ? dirname(file) : packageOf(dirname(file));
