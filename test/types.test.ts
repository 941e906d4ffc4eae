import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";

const PACKAGES = readdirSync("packages");
const tsc = resolve("node_modules/typescript/bin/tsc");
const folder = mkdtempSync(join(tmpdir(), "cinch-types-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function compile(config: object): string {
  const path = join(folder, "tsconfig.json");
  writeFileSync(path, JSON.stringify(config));
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", path], { cwd: folder, encoding: "utf8" });
  return stdout + stderr;
}

/** Puts the packages into `node_modules` as a user has them: a package.json and declarations. */
before(() => {
  const out = join(folder, "out");
  const emitted = compile({
    extends: resolve("tsconfig.base.json"),
    compilerOptions: {
      // `npm run check` checks the sources, and the test of the packages builds them.
      noCheck: true,
      customConditions: ["@cinch/source"],
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: resolve("."),
      outDir: out,
      typeRoots: [resolve("node_modules/@types")],
    },
    include: PACKAGES.map((name) => resolve("packages", name, "src")),
  });
  assert.equal(emitted, "");
  const modules = join(folder, "user/node_modules");
  mkdirSync(join(modules, "@cinch"), { recursive: true });
  for (const name of PACKAGES) {
    cpSync(join(out, "packages", name, "src"), join(modules, "@cinch", name, "dist"), { recursive: true });
    copyFileSync(join("packages", name, "package.json"), join(modules, "@cinch", name, "package.json"));
  }
  for (const name of readdirSync("node_modules"))
    if (name !== "@cinch" && !name.startsWith(".")) symlinkSync(resolve("node_modules", name), join(modules, name));
  copyFileSync("test/programs/types.ts", join(folder, "user/types.ts"));
  writeFileSync(join(folder, "user/package.json"), JSON.stringify({ type: "module" }));
});

for (const isExact of [false, true])
  test(`the types of all packages compile in strict mode, without skipLibCheck, ${isExact ? "with" : "without"} exactOptionalPropertyTypes`, () => {
    const problems = compile({
      compilerOptions: {
        target: "es2024",
        lib: isExact ? ["es2024", "esnext.disposable"] : ["es2024", "dom"],
        module: "nodenext",
        types: ["node"],
        typeRoots: [resolve("node_modules/@types")],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        exactOptionalPropertyTypes: isExact,
        noUncheckedIndexedAccess: isExact,
      },
      files: [join(folder, "user/types.ts")],
    });
    assert.equal(problems, "");
  });
