import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { rgPath } from "@vscode/ripgrep";
import * as fc from "fast-check";
import { memoryBackend } from "@cinch/workspace";
import { Ignores } from "../../src/search/ignore.ts";
import { TemporaryFolder, reach } from "../temporary-folder.ts";

const excludes = (text: string, path: string, type: "file" | "directory" = "file") =>
  new Ignores(null, "/", text).excludes(path, type);

describe("ignore files", () => {
  test("have the meaning that git gives them", () => {
    assert.ok(
      excludes("*.log", "/a/b.log") && excludes("dist/", "/x/dist", "directory") && !excludes("dist/", "/dist"),
    );
    assert.ok(excludes("/a", "/a") && !excludes("/a", "/b/a") && excludes("a/b", "/a/b") && !excludes("a/b", "/x/a/b"));
    assert.ok(
      excludes("**/a", "/x/y/a") &&
        excludes("a/**/b", "/a/b") &&
        excludes("a/**", "/a/b") &&
        !excludes("a/**", "/a", "directory"),
    );
    assert.ok(!excludes("*.log\n!keep.log", "/keep.log") && excludes("!keep.log\n*.log", "/keep.log"));
    assert.ok(!excludes("# comment", "/# comment") && excludes("\\# name", "/# name") && excludes("\\!a", "/!a"));
    assert.ok(
      excludes("a  ", "/a") && excludes("a\r\nb", "/a") && excludes("{a,b}", "/{a,b}") && !excludes("{a,b}", "/a"),
    );
    assert.ok(!excludes("", "/a") && !excludes("\n\n/\n!\n", "/a"));
  });

  test("a hostile one takes no long time", () => {
    const begun = performance.now();
    const text = `${"*a".repeat(400)}b\n`.repeat(500) + "x".repeat(1_000_000);
    const ignores = new Ignores(null, "/", text);
    for (let at = 0; at < 20; at++) ignores.excludes(`/${"a".repeat(200)}${at}`, "file");
    assert.ok(performance.now() - begun < 30_000);
  });

  test("blanks at the end of a line are ignored, except for one that is escaped", () => {
    assert.ok(
      excludes("a   ", "/a") && excludes("a\\   ", "/a ") && !excludes("a\\   ", "/a") && excludes(" a", "/ a"),
    );
  });

  test("after hostile rules, the ones before them are not looked at", () => {
    const name = `/${"a".repeat(250)}`;
    const hostile = Array.from({ length: 30 }, (_, at) => `${"*a".repeat(400)}-${at}*`);
    const ordinary = Array.from({ length: 1_500 }, (_, at) => `[Bb]uild-${at}/*.o`);
    assert.equal(excludes(["[a]*", ...hostile].join("\n"), name), false);
    assert.equal(excludes(["[a]*", ...ordinary].join("\n"), name), true);
  });

  test("too many rules exclude the same, in whatever order paths are asked for", () => {
    const many = Array.from({ length: 1_400 }, (_, at) => `**/[Pp]ackages${at}/*`);
    const text = ["*.fir?t", ...many].join("\n");
    const long = "/src/components/application/header/navigation-bar/menu-item/Quick.jumpsOverLazyDogs.first";
    const paths = [long, "/packages/p0/some/other/deep/folder/structure/here/zebra-fox.first", "/a.first"];
    for (const asked of [paths, paths.toReversed(), [...paths, ...paths]]) {
      const ignores = new Ignores(null, "/", text);
      assert.deepEqual(
        asked.map((path) => ignores.excludes(path, "file")),
        asked.map((path) => excludes(text, path)),
      );
    }
  });

  test("a hostile one does not block the event loop, nor delay an abort", async () => {
    const lines = Array.from({ length: 1_500 }, (_, at) => `${"*a".repeat(20)}${at}*`).join("\n");
    const names = Array.from({ length: 1_000 }, (_, at) => [`/${"a".repeat(200)}${at}`, "x"]);
    const backend = memoryBackend({ "/.gitignore": lines, ...Object.fromEntries(names) });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 50);
    const begun = performance.now();
    const searching = async () => {
      const query = { pattern: "x", path: "/", regex: false, ignoreCase: false };
      for await (const _ of backend.grep(query, { ...reach, signal: controller.signal }));
    };
    await assert.rejects(searching(), /enough/);
    assert.ok(performance.now() - begun < 10_000);
  });

  test("exclude what they exclude for ripgrep", async () => {
    await using place = await TemporaryFolder.make();
    const name = fc.constantFrom("a", "b", "c.x", "d.x");
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
    const line = fc.oneof(
      path,
      fc.constantFrom("*.x", "/*", "*", "b/*", "a/**", "**/c.x", "a/**/d.x", "[ab]", "?.x", "/a", "b/", "*/", "c*"),
    );
    const text = fc
      .array(fc.tuple(fc.boolean(), line), { maxLength: 4 })
      .map((lines) => lines.map(([not, one]) => (not ? "!" : "") + one).join("\n"));
    const folders = fc.dictionary(fc.constantFrom("", "a/", "b/", "a/b/"), text, { maxKeys: 3 });
    const one = fc.asyncProperty(fc.uniqueArray(path, { maxLength: 12 }), folders, async (paths, ignores) => {
      const files: Record<string, string> = {};
      for (const [folder, lines] of Object.entries(ignores)) files[`${folder}.gitignore`] = `${lines}\n`;
      // No file may have the path of another one's folder.
      for (const file of paths.map((each) => `${each}/file.x`)) files[file] = "x\n";
      const backend = memoryBackend(files);
      const ours = new Set<string>();
      const query = { pattern: "", path: "/", regex: false, ignoreCase: false };
      for await (const match of backend.grep(query, reach)) ours.add(match.path.slice(1));
      assert.deepEqual([...ours].toSorted(), seenByRipgrep(place.path, files));
    });
    await fc.assert(one, { numRuns: 120 });
  });
});

function seenByRipgrep(place: string, files: Record<string, string>): string[] {
  const root = mkdtempSync(join(place, "tree-"));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    const options = ["--no-config", "--hidden", "--no-require-git", "--no-ignore-parent", "--no-ignore-global"];
    const printed = execFileSync(rgPath, [...options, "--files", "."], { cwd: root, encoding: "utf8" });
    return printed
      .split("\n")
      .filter((path) => path !== "")
      .map((path) => path.replace(/^\.\//, ""))
      .toSorted();
  } catch (error) {
    // Its exit code for no results.
    if ((error as { status?: number }).status === 1) return [];
    throw error;
  } finally {
    rmSync(root, { recursive: true });
  }
}
