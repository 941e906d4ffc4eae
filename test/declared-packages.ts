import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { manifestOf } from "./packages.ts";

const root = join(import.meta.dirname, "..");
const tsc = join(root, "node_modules/typescript/bin/tsc");
/** Those that a program can import. */
const PACKAGES = [...readdirSync(join(root, "packages")).map((name) => `packages/${name}`), "apps/web"];

/** Compiles a project, and returns what the compiler prints. */
export function compile(file: string, config: object): Promise<string> {
  writeFileSync(file, JSON.stringify(config));
  const args = [tsc, "--noErrorTruncation", "--pretty", "false", "-p", file];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

let declared: Promise<string> | undefined;

/** A folder whose `node_modules` has the packages as a user has them: a package.json and declarations. The tests of a process share it. */
export function declaredPackages(): Promise<string> {
  return (declared ??= declare());
}

async function declare(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-types-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));
  const out = join(folder, "out");
  const emitted = await compile(join(folder, "tsconfig.json"), {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      // `npm run check` checks the sources, and the test of the packages builds them.
      noCheck: true,
      customConditions: ["@cinch/source"],
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: root,
      outDir: out,
      typeRoots: [join(root, "node_modules/@types")],
    },
    include: PACKAGES.map((name) => join(root, name, "src")),
    exclude: [join(root, "apps/web/src/page")],
  });
  assert.equal(emitted, "");
  const user = join(folder, "user");
  const modules = join(user, "node_modules");
  mkdirSync(join(modules, "@cinch"), { recursive: true });
  for (const name of PACKAGES) {
    const place = join(modules, manifestOf(join(root, name)).name);
    cpSync(join(out, name, "src"), join(place, "dist"), { recursive: true });
    copyFileSync(join(root, name, "package.json"), join(place, "package.json"));
  }
  for (const name of readdirSync(join(root, "node_modules")))
    if (name !== "@cinch" && !name.startsWith(".")) symlinkSync(join(root, "node_modules", name), join(modules, name));
  writeFileSync(join(user, "package.json"), JSON.stringify({ type: "module" }));
  return user;
}
