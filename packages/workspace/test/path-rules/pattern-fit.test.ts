import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tool } from "@cinch/core";
import { fileTools } from "../../src/tools/index.ts";
import * as fc from "fast-check";
import { pathRules } from "../tools/file-desk.ts";
import { MapBackend } from "../tools/map-backend.ts";

const tools = fileTools({ backend: new MapBackend(), rules: pathRules() }) as Record<string, Tool>;
const context = { threadId: "t", resourceId: "r" };
const fit = (tool: string, pattern: string, path: string) =>
  tools[tool]!.matches!(pattern, { file_path: path, path }, context);
const suggestion = (tool: string, path: string) => tools[tool]!.suggest!({ file_path: path, path }, context);

test("a pattern is compared with the normalised path of a file", async () => {
  for (const [pattern, path, expected] of [
    ["/src/**", "src/a.ts", "all"],
    ["src/**", "/src/lib/deep/a.ts", "all"],
    ["/src/**", "/src/.env", "all"],
    ["/src/**", "/srcs/a.ts", "none"],
    ["/src/**", "/src", "none"],
    ["/src/**", "src/../other/a.ts", "none"],
    ["**/.env", ".env", "all"],
    ["/**/.env", "a/b/.env", "all"],
    ["*.md", "README.md", "all"],
    ["*.md", "docs/README.md", "none"],
    ["src/*/a.ts", "src/x/a.ts", "all"],
    ["src/**/a.ts", "src/a.ts", "all"],
    ["/src/{a,b}.ts", "src/b.ts", "all"],
    ["!/src/**", "other/a.ts", "none"],
    ["**", "a", "all"],
    ["/**", "a/b", "all"],
  ] as const) {
    assert.equal(await fit("edit_file", pattern, path), expected, `${pattern} ${path}`);
    assert.equal(await fit("read_file", pattern, path), expected, `${pattern} ${path}`);
  }
});

test("a searched directory is covered by a pattern only if everything in it is", async () => {
  for (const [pattern, path, expected] of [
    ["/src/**", "/src", "all"],
    ["/src/**", "/src/lib", "all"],
    ["/src/**", "/", "some"],
    ["/src/secret/**", "/src", "some"],
    ["/src/secret/**", "/other", "none"],
    ["**/.env", "/src", "some"],
    ["/src/*.ts", "/src", "some"],
    ["/src/*.ts", "/src/lib", "none"],
    ["/src/{a/b,c}/*", "/src/a", "some"],
    ["**", "/", "all"],
  ] as const) {
    assert.equal(await fit("grep", pattern, path), expected, `${pattern} ${path}`);
    assert.equal(await fit("glob", pattern, path), expected, `${pattern} ${path}`);
  }
});

test("a deleted path may be a directory, unless it can only be a file", async () => {
  for (const [pattern, path, expected] of [
    ["/src/**", "/src/a.ts", "all"],
    ["/src/**", "/src/lib", "all"],
    ["/src/**", "/src", "some"],
    ["/src/*.ts", "/src/a.ts", "all"],
    ["/src/*", "/src/lib", "some"],
    ["**/.env", "/src", "some"],
    ["**/.env", "/src/a.ts", "none"],
    ["**/.env", "/src/a.ts/", "some"],
    ["/other/**", "/src", "none"],
  ] as const)
    assert.equal(await fit("delete", pattern, path), expected, `${pattern} ${path}`);
});

test("the suggested pattern is the folder, never everything", async () => {
  for (const tool of ["read_file", "write_file", "edit_file", "delete"]) {
    assert.equal(await suggestion(tool, "src/lib/a.ts"), "/src/lib/**");
    assert.equal(await suggestion(tool, "a.ts"), "/a.ts");
    assert.equal(await suggestion(tool, "app/[id]/(x)/a.ts"), String.raw`/app/\[id\]/\(x\)/**`);
  }
  for (const tool of ["ls", "glob", "grep"]) {
    assert.equal(await suggestion(tool, "src"), "/src/**");
    assert.equal(await suggestion(tool, "/"), undefined);
  }
});

test("the suggested pattern covers the call, and nothing outside its folder", async () => {
  const name = fc.string({ minLength: 1, maxLength: 8 }).map((text) => text.replace(/[/\\]/g, "_"));
  const usable = name.filter((text) => text !== "." && text !== "..");
  const path = fc.array(usable, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join("/")}`);
  await fc.assert(
    fc.asyncProperty(path, path, async (one, other) => {
      const pattern = (await suggestion("edit_file", one))!;
      assert.equal(await fit("edit_file", pattern, one), "all", pattern);
      const folder = one.slice(0, one.lastIndexOf("/"));
      const expected = folder === "" ? other === one : other.startsWith(`${folder}/`);
      assert.equal(await fit("edit_file", pattern, other), expected ? "all" : "none", pattern);
    }),
    { numRuns: 2_000 },
  );
});
