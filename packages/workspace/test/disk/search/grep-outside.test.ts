/** ripgrep walks a folder by itself, and no file in the folder must make it read outside. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { directoryBackend, pathRules, withPolicy, type Backend } from "@cinch/workspace";
import { grepFiles } from "@cinch/workspace/backend";
import { ruleHooks } from "../../../src/path-rules/rule-hooks.ts";
import { reach } from "../../temporary-folder.ts";

function place(files: Record<string, string>) {
  const base = mkdtempSync(join(tmpdir(), "cinch-grep-"));
  const root = join(base, "root");
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  return { base, root, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true, maxRetries: 9 }) };
}

/** Both kinds of search: for lines, and for counts. Waits a little, because new folders are searched another way. */
async function found(backend: Backend, path = "/"): Promise<string[]> {
  await sleep(100);
  const query = { path, pattern: "match", regex: false, ignoreCase: false };
  const all: string[][] = [];
  for (const counts of [false, true]) {
    const paths = new Set<string>();
    for await (const match of backend.grep({ ...query, counts }, reach)) paths.add(match.path);
    all.push([...paths].toSorted());
  }
  assert.deepEqual(all[0], all[1]);
  return all[0]!;
}

test("the contents of a file outside of the root do not affect the results", async () => {
  using at = place({ secret: "4711\n", "root/1234": "match\n", "root/4711": "match\n" });
  symlinkSync("../secret", join(at.root, ".ignore"));
  assert.deepEqual(await found(directoryBackend({ root: at.root })), ["/1234", "/4711"]);
});

test("an endless or very large ignore file, or one that is a pipe, delays no search", async () => {
  using at = place({ "root/a": "match\n", "root/large/b": "match\n", "root/pipe/c": "match\n" });
  symlinkSync("/dev/zero", join(at.root, ".gitignore"));
  writeFileSync(join(at.root, "large/.gitignore"), "");
  truncateSync(join(at.root, "large/.gitignore"), 4 * 1024 ** 3);
  execFileSync("mkfifo", [join(at.root, "pipe/.gitignore")]);
  assert.deepEqual(await found(directoryBackend({ root: at.root })), ["/a", "/large/b", "/pipe/c"]);
});

test("lines of a denied folder are not found under another name", async () => {
  using at = place({ "root/private/x\n./public/a.txt": "match: secret\n", "root/public/b.txt": "no\n" });
  const rules = pathRules([{ operations: ["read"], paths: ["/private/**"], mode: "deny" }]);
  assert.deepEqual(await found(withPolicy(directoryBackend({ root: at.root }), ruleHooks(rules))), []);
});

test("ignore files have the same meaning as in a walk of single files", async () => {
  const files = {
    "root/.gitignore": "*.log\n/build/\n{a,b}\n lead\n",
    "root/.rgignore": "kept\n",
    "root/kept": "match\n",
    "root/x.log": "match\n",
    "root/build/out": "match\n",
    "root/a": "match\n",
    "root/ lead": "match\n",
    "root/pkg/.gitignore": "!y.log\n",
    "root/pkg/y.log": "match\n",
    "root/venv/.gitignore": "*\n",
    "root/venv/lib": "match\n",
    "root/deep/1/2/3/4/.ignore": "gone\n",
    "root/deep/1/2/3/4/gone": "match\n",
    "root/deep/1/2/3/4/there": "match\n",
  };
  using at = place(files);
  for (const path of ["/", "/venv", "/pkg", "/deep/1/2"]) {
    const [quick, slow] = [
      directoryBackend({ root: at.root }),
      directoryBackend({ root: at.root, confinement: "checks" }),
    ];
    assert.deepEqual(await found(quick, path), await found(slow, path), path);
  }
});

test("for any path and pattern, the files are those that a walk through the backend finds", async () => {
  const names = [
    "a.ts",
    "x.log",
    "keep.log",
    ".git/HEAD",
    "node_modules/m/index.js",
    "dist/out.js",
    "dist/deep/out.ts",
    "src/a.ts",
    "src/b.js",
    "src/x.log",
    "src/deep/c.tsx",
    "src/deep/node_modules/n.js",
    "src/gen/made.ts",
    "venv/lib/v.ts",
    "back/node_modules/b.js",
    "back/.git/config",
  ];
  const files = Object.fromEntries(names.map((name) => [`root/${name}`, "match\n"]));
  using at = place({
    ...files,
    "root/.gitignore": "*.log\n!keep.log\n/dist/\nmatch-nothing\n",
    "root/src/.ignore": "gen\n",
    "root/venv/.gitignore": "*\n",
    "root/back/.gitignore": "!node_modules\n",
  });
  await sleep(100);
  const globs = [
    "*.ts",
    "*.{ts,tsx}",
    "src/**/*.ts",
    "/src/*",
    "!*.ts",
    "dist/**",
    "**/gen/*",
    "x.log",
    "node_modules/**",
  ];
  for (const confinement of ["descriptors", "checks"] as const) {
    const backend = directoryBackend({ root: at.root, confinement });
    for (const path of ["/", "/src", "/src/gen", "/dist", "/venv", "/back", "/node_modules", "/.git"])
      for (const glob of [undefined, "**/node_modules/*.js", ".git/*", "{src,dist}/*.js", ...globs]) {
        const query = { path, pattern: "match", regex: false, ignoreCase: false, ...(glob ? { glob } : {}) };
        const results = [backend.grep(query, reach), grepFiles(backend, query, reach)].map(async (matches) => {
          const paths: string[] = [];
          for await (const match of matches) paths.push(match.path);
          return paths.toSorted();
        });
        const [quick, walked] = await Promise.all(results);
        // A folder that brings others back is known only when it is searched itself.
        const isLate = (one: string) =>
          path === "/" && !glob?.includes("node_modules") && one === "/back/node_modules/b.js";
        assert.deepEqual(
          quick,
          walked!.filter((one) => !isLate(one)),
          `${confinement} ${path} ${glob}`,
        );
      }
  }
});
