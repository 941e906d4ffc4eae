import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { FileError } from "@cinch/workspace";
import { virtualPath } from "../src/paths.ts";

const problem = (input: string, options = {}): string => {
  try {
    return virtualPath(input, options);
  } catch (error) {
    assert.ok(error instanceof FileError);
    return error.problem;
  }
};

describe("a path of the workspace", () => {
  const means: [input: string, path: string][] = [
    ["/", "/"],
    ["", "/"],
    [".", "/"],
    ["./", "/"],
    ["//", "/"],
    ["a", "/a"],
    ["a/b", "/a/b"],
    ["./a", "/a"],
    ["/a/", "/a"],
    ["/a//b///c", "/a/b/c"],
    ["/a/./b/.", "/a/b"],
    ["/a/../b", "/b"],
    ["/a/b/../../c", "/c"],
    ["a/..", "/"],
    ["/...", "/..."],
    ["/..a", "/..a"],
    ["/a..", "/a.."],
    ["/.env", "/.env"],
    ["/[...slug].ts", "/[...slug].ts"],
    ["/app/(group)/[id]", "/app/(group)/[id]"],
    ["/ a b ", "/ a b "],
    ["/😀/👩‍👩‍👧‍👧", "/😀/👩‍👩‍👧‍👧"],
    ["~/a", "/~/a"],
    ["~", "/~"],
    ["$HOME/a", "/$HOME/a"],
    ["%2e%2e/%2e%2e/etc", "/%2e%2e/%2e%2e/etc"],
    ["..%2f..%2fetc", "/..%2f..%2fetc"],
    ["．．/etc", "/．．/etc"],
    ["..／..／etc", "/..／..／etc"],
    ["․․/etc", "/․․/etc"],
    ["C:/x", "/C:/x"],
    ["file:///etc/passwd", "/file:/etc/passwd"],
    ["http://x/y", "/http:/x/y"],
    ["/etc/passwd", "/etc/passwd"],
    ["-rf", "/-rf"],
  ];
  for (const [input, path] of means)
    test(`${JSON.stringify(input)} is ${path}`, () => assert.equal(problem(input), path));

  const outside = ["..", "../", "/..", "../a", "/../a", "a/../..", "/a/b/../../../c", "./../a", "//../a", ".././a"];
  for (const input of outside)
    test(`${input} escapes the root, and is not clamped`, () => assert.equal(problem(input), "outside"));

  const invalid = [
    "a\0b",
    "/etc/passwd\0.txt",
    "a\nb",
    "a\rb",
    "\u001b[31m",
    "a\u007f",
    "a\u0085b",
    "\ud800",
    "a\udc00",
    "C:\\x",
    "..\\x",
    "\\\\server\\share",
    "a\\b",
    "/a/" + "x".repeat(256),
    "é".repeat(128),
    "/a".repeat(2_100),
  ];
  for (const input of invalid) {
    const shown = JSON.stringify(input.slice(0, 20));
    test(`${shown} is no path`, () => assert.equal(problem(input), "invalid"));
  }

  test("names may have 255 bytes, and paths 4096", () => {
    assert.equal(problem("x".repeat(255)), `/${"x".repeat(255)}`);
    assert.equal(problem("/a".repeat(2_048)), "/a".repeat(2_048));
  });

  test("an error message never contains a hostile path verbatim", () => {
    assert.throws(
      () => virtualPath("a\u001b[2Jb"),
      (error: Error) => !error.message.includes("\u001b"),
    );
  });

  test("a value that is not text is no path", () => {
    for (const input of [undefined, null, 1, {}, ["/a"]])
      assert.throws(() => virtualPath(input as unknown as string), FileError);
  });

  test("for any input, the result is normalised, and normalises to itself", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("/", "..", ".", "a", "b c", "%2e", "\\", "😀", "\0", "~")), (parts) => {
        const input = parts.join("");
        const path = problem(input);
        if (path === "outside" || path === "invalid") return;
        assert.match(path, /^\/([^/]+(\/[^/]+)*)?$/);
        assert.ok(!path.split("/").some((name) => name === ".." || name === "."));
        assert.equal(virtualPath(path), path);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a real path below the root", () => {
  const root = "/home/me/repo";
  const means: [input: string, path: string][] = [
    ["/home/me/repo/src/a.ts", "/src/a.ts"],
    ["/home/me/repo", "/"],
    ["/home/me/repo/", "/"],
    ["/home/me/repo/../repo/a", "/a"],
    ["/home/me/repo/a/../b", "/b"],
    ["/home/me/repo-evil/a", "/home/me/repo-evil/a"],
    ["/home/me/rep", "/home/me/rep"],
    ["/home/me", "/home/me"],
    ["home/me/repo/a", "/home/me/repo/a"],
    ["/src/a.ts", "/src/a.ts"],
    ["/etc/passwd", "/etc/passwd"],
    ["/home/me/repo/../other", "outside"],
    ["/home/me/repo/../../../etc/passwd", "outside"],
    ["/home/me/repo/..", "outside"],
  ];
  for (const [input, path] of means) test(`${input} is ${path}`, () => assert.equal(problem(input, { root }), path));

  test("a root may have several names, and may end in a slash", () => {
    const roots = { root: ["/tmp/link/", "/private/tmp/real"] };
    assert.equal(problem("/tmp/link/a", roots), "/a");
    assert.equal(problem("/private/tmp/real/a", roots), "/a");
    assert.equal(problem("/tmp/other/a", roots), "/tmp/other/a");
  });

  test("if the root is the root of the disk, a path has one meaning", () => {
    assert.equal(problem("/etc/passwd", { root: "/" }), "/etc/passwd");
  });
});
