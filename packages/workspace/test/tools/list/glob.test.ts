import assert from "node:assert/strict";
import { test } from "node:test";
import { fileDesk, pathRules } from "../file-desk.ts";

const files = { "/a.ts": "", "/src/b.ts": "", "/src/lib/c.ts": "", "/src/.d.ts": "", "/README.md": "" };

test("files are found by a pattern, the last changed first, by paths that work in commands", async () => {
  await using d = await fileDesk({ files });
  assert.equal(
    await d.ok("glob", { pattern: "**/*.ts" }),
    "4 matches, the last changed first\nsrc/.d.ts\nsrc/lib/c.ts\nsrc/b.ts\na.ts",
  );
  assert.equal(await d.ok("glob", { pattern: "*.ts" }), "1 match, the last changed first\na.ts");
  const inSrc = "2 matches in src, the last changed first\nsrc/.d.ts\nsrc/b.ts";
  assert.equal(await d.ok("glob", { pattern: "*.ts", path: "src" }), inSrc);
  assert.equal(await d.ok("glob", { pattern: "/src/*.ts", path: "/src" }), inSrc);
  assert.equal(await d.ok("glob", { pattern: "/src/l*" }), "1 match, the last changed first\nsrc/lib/");
  assert.equal(await d.ok("glob", { pattern: "*.py" }), "Nothing matches *.py.");
});

test("nothing outside is shown, whatever the pattern", async () => {
  await using d = await fileDesk({ files });
  assert.match(await d.fails("glob", { pattern: "../*" }), /^A pattern can't hold "\.\."/);
  assert.match(await d.fails("glob", { pattern: "../*", path: "src" }), /^A pattern can't hold "\.\."/);
  assert.match(await d.fails("glob", { pattern: "*", path: "src/../.." }), /escapes the root of the workspace/);
  const outside = { path: "/etc/passwd", type: "file" as const, size: 1, modified: Date.now() };
  d.backend.glob = async function* () {
    yield outside;
  };
  assert.equal(await d.ok("glob", { pattern: "{..,.}/*", path: "src" }), "Nothing matches {..,.}/* in src.");
});

test("at most 1000 are shown: the newest, with the number of the others", async () => {
  await using d = await fileDesk({
    files: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`/many/${at}.txt`, ""])),
  });
  const shown = (await d.ok("glob", { pattern: "many/*.txt" })).split("\n");
  assert.equal(shown.length, 1_002);
  assert.deepEqual(shown.slice(0, 3), ["5000 matches, the last changed first", "many/4999.txt", "many/4998.txt"]);
  assert.equal(shown.at(-1), "[4000 more are not shown. Use a narrower pattern or a path to see them.]");
});

test("what the rules hide is not found", async () => {
  await using d = await fileDesk({ files, rules: pathRules(["read", "/src/*.ts", "deny"]) });
  assert.equal(await d.ok("glob", { pattern: "**/*.ts" }), "2 matches, the last changed first\nsrc/lib/c.ts\na.ts");
});

test("a missing directory and a file are errors that name the next call", async () => {
  await using d = await fileDesk({ files });
  assert.match(await d.fails("glob", { pattern: "*", path: "sources" }), /Call ls on \./);
  assert.match(await d.fails("glob", { pattern: "*", path: "a.ts" }), /is a file, not a directory/);
});
