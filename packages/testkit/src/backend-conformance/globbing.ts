import assert from "node:assert/strict";
import { all, type BackendCheck, rejects } from "./files.ts";

const TREE = {
  "/a.ts": "1",
  "/b.js": "2",
  "/.env": "3",
  "/src/a.ts": "4",
  "/src/b.test.ts": "5",
  "/src/.hidden/c.ts": "6",
  "/src/lib/d.ts": "7",
  "/src/lib/deep/e.ts": "8",
  "/docs/readme.md": "9",
  "/docs/[id].md": "10",
  "/docs/[...slug]/page.md": "11",
  "/docs/(group)/page.md": "12",
  "/docs/i.md": "13",
};

const PATTERNS: [pattern: string, found: string[]][] = [
  ["*.ts", ["/a.ts"]],
  ["*", ["/.env", "/a.ts", "/b.js"]],
  [".*", ["/.env"]],
  ["**/*.ts", ["/a.ts", "/src/.hidden/c.ts", "/src/a.ts", "/src/b.test.ts", "/src/lib/d.ts", "/src/lib/deep/e.ts"]],
  ["**", Object.keys(TREE).toSorted()],
  ["src/*.ts", ["/src/a.ts", "/src/b.test.ts"]],
  ["src/**/*.ts", ["/src/.hidden/c.ts", "/src/a.ts", "/src/b.test.ts", "/src/lib/d.ts", "/src/lib/deep/e.ts"]],
  ["src/**", ["/src/.hidden/c.ts", "/src/a.ts", "/src/b.test.ts", "/src/lib/d.ts", "/src/lib/deep/e.ts"]],
  ["src/", ["/src/.hidden/c.ts", "/src/a.ts", "/src/b.test.ts", "/src/lib/d.ts", "/src/lib/deep/e.ts"]],
  ["src/**/deep/*", ["/src/lib/deep/e.ts"]],
  ["**/deep/**", ["/src/lib/deep/e.ts"]],
  ["*.{ts,js}", ["/a.ts", "/b.js"]],
  ["{src,docs}/*.{ts,md}", ["/docs/[id].md", "/docs/i.md", "/docs/readme.md", "/src/a.ts", "/src/b.test.ts"]],
  ["{src/lib,docs}/*", ["/docs/[id].md", "/docs/i.md", "/docs/readme.md", "/src/lib/d.ts"]],
  ["?.ts", ["/a.ts"]],
  ["[ab].?s", ["/a.ts", "/b.js"]],
  ["[!a].js", ["/b.js"]],
  ["src/[a-b]*.ts", ["/src/a.ts", "/src/b.test.ts"]],
  ["docs/[id].md", ["/docs/[id].md", "/docs/i.md"]],
  ["docs/\\[id\\].md", ["/docs/[id].md"]],
  ["docs/[...slug]/*.md", ["/docs/[...slug]/page.md"]],
  ["docs/(group)/*", ["/docs/(group)/page.md"]],
  ["src/a.ts", ["/src/a.ts"]],
  ["./src/a.ts", ["/src/a.ts"]],
  ["/src/a.ts", ["/src/a.ts"]],
  ["/src/*.ts", ["/src/a.ts", "/src/b.test.ts"]],
  ["none/**", []],
  ["src/a.ts/**", []],
  ["*/**/d.ts", ["/src/lib/d.ts"]],
  ["*.TS", []],
  ["../*", []],
  ["src/../*", []],
  ["/../../**", []],
  ["..", []],
  ["", []],
];

export function globbing(check: BackendCheck): void {
  check("a glob returns exactly the files that match", async (files) => {
    await files.writeAll(TREE);
    for (const [pattern, found] of PATTERNS) assert.deepEqual(await files.glob(pattern), found, pattern);
  });

  check("a pattern is relative to the path of the search, and matches nothing outside of it", async (files) => {
    await files.writeAll(TREE);
    assert.deepEqual(await files.glob("*.ts", "/src"), ["/src/a.ts", "/src/b.test.ts"]);
    assert.deepEqual(await files.glob("**/*.ts", "/src/lib"), ["/src/lib/d.ts", "/src/lib/deep/e.ts"]);
    assert.deepEqual(await files.glob("/src/lib/*", "/src"), ["/src/lib/d.ts"]);
    assert.deepEqual(await files.glob("/**/*.ts", "/src/lib"), ["/src/lib/d.ts", "/src/lib/deep/e.ts"]);
    for (const pattern of ["../*", "/docs/*", "/a.ts", "lib/../../*", "{..,lib}/../*"])
      assert.deepEqual(await files.glob(pattern, "/src"), [], pattern);
  });

  check("a match has its size and time", async (files) => {
    await files.writeAll(TREE);
    const [entry] = await all(files.backend.glob({ pattern: "docs/i.md", path: "/" }, files.reach));
    const { modified } = entry!;
    assert.deepEqual(entry, { path: "/docs/i.md", type: "file", size: 2, modified });
    assert.ok(Math.abs(Date.now() - modified) < 60_000);
  });

  check("a search can't start at a missing path or at a file", async (files) => {
    await files.writeAll(TREE);
    await rejects(files.glob("*", "/none"), "not_found");
    await rejects(files.glob("*", "/a.ts"), "not_a_directory");
  });

  check("a glob ends when its reader stops", async (files) => {
    await files.writeAll(TREE);
    for (let turn = 0; turn < 10; turn++) {
      const found: string[] = [];
      for await (const { path } of files.backend.glob({ pattern: "**", path: "/" }, files.reach)) {
        found.push(path);
        if (found.length === 2) break;
      }
      assert.equal(found.length, 2);
    }
  });
}

export function ignoring(check: BackendCheck): void {
  const project = {
    "/.gitignore": "# comment\ndist/\n*.log\n/build/*\n!/build/keep.ts\n",
    "/code/main.ts": "needle",
    "/debug.log": "needle",
    "/dist/main.js": "needle",
    "/build/out.ts": "needle",
    "/build/keep.ts": "needle",
    "/node_modules/lib/index.ts": "needle",
    "/.git/config": "needle",
    "/pkg/.gitignore": "generated\n!debug.log\n",
    "/pkg/generated/x.ts": "needle",
    "/pkg/debug.log": "needle",
    "/venv/.gitignore": "*",
    "/venv/lib/x.py": "needle",
    "/venv/x.py": "needle",
  };

  check("searches skip what an ignore file excludes, and .git and node_modules", async (files) => {
    await files.writeAll(project);
    assert.deepEqual(await files.glob("**/*.{ts,js,py}"), ["/build/keep.ts", "/code/main.ts"]);
    assert.deepEqual(await files.glob("**/*.log"), ["/debug.log", "/pkg/debug.log"]);
    const hits = await files.grep("needle");
    assert.deepEqual(hits.map(({ path }) => path).toSorted(), ["/build/keep.ts", "/code/main.ts", "/pkg/debug.log"]);
  });

  check("searches find what an ignore file excludes if the pattern or the path names it", async (files) => {
    await files.writeAll(project);
    assert.deepEqual(await files.glob("node_modules/**"), ["/node_modules/lib/index.ts"]);
    assert.deepEqual(await files.glob("**/node_modules/**/*.ts"), ["/node_modules/lib/index.ts"]);
    assert.deepEqual(await files.glob("**/*.js", "/dist"), ["/dist/main.js"]);
    assert.deepEqual(await files.glob("{code,dist}/*"), ["/code/main.ts", "/dist/main.js"]);
    assert.deepEqual(await files.glob("build/*"), ["/build/keep.ts", "/build/out.ts"]);
    assert.deepEqual(await files.glob("venv/**/*.py"), ["/venv/lib/x.py", "/venv/x.py"]);
    assert.deepEqual(await files.glob(".git/*"), ["/.git/config"]);
    assert.deepEqual(await files.hits("needle", { path: "/node_modules" }), ["/node_modules/lib/index.ts:1:needle"]);
    assert.deepEqual(await files.hits("needle", { path: "/debug.log" }), ["/debug.log:1:needle"]);
    assert.deepEqual(await files.hits("needle", { glob: "debug.log" }), [
      "/debug.log:1:needle",
      "/pkg/debug.log:1:needle",
    ]);
  });

  check("lists show everything", async (files) => {
    await files.writeAll(project);
    const names = (await files.list("/")).map(({ path }) => path);
    assert.deepEqual(names.toSorted(), [
      "/.git",
      "/.gitignore",
      "/build",
      "/code",
      "/debug.log",
      "/dist",
      "/node_modules",
      "/pkg",
      "/venv",
    ]);
  });
}
