import assert from "node:assert/strict";
import { test } from "node:test";
import { fileDesk, pathRules } from "../file-desk.ts";

const files = {
  "/src/b.ts": "let a = 1;\nlet b = a.c;\r\nlet c = 3;\nend\n",
  "/src/a.ts": "// a.c\n",
  "/README.md": "axc\nA.C\n",
};

test("by default the files with plain text in them are listed", async () => {
  await using d = await fileDesk({ files });
  assert.equal(await d.ok("grep", { pattern: "a.c" }), "2 lines in 2 files\nsrc/a.ts\nsrc/b.ts");
  assert.equal(await d.ok("grep", { pattern: "nowhere" }), "Nothing matches nowhere.");
});

test("a regular expression, letters of either case, a path and a glob narrow or widen the search", async () => {
  await using d = await fileDesk({ files });
  const all = "4 lines in 3 files\nREADME.md\nsrc/a.ts\nsrc/b.ts";
  assert.equal(await d.ok("grep", { pattern: "a.c", regex: true, ignore_case: true }), all);
  assert.equal(
    await d.ok("grep", { pattern: "a.c", ignore_case: true, path: "README.md" }),
    "1 line in 1 file\nREADME.md",
  );
  assert.equal(await d.ok("grep", { pattern: "a.c", glob: "a.*" }), "1 line in 1 file\nsrc/a.ts");
  assert.equal(await d.ok("grep", { pattern: "a.c", glob: "/src/b*" }), "1 line in 1 file\nsrc/b.ts");
  assert.equal(await d.ok("grep", { pattern: "a.c", glob: "!b.*" }), "1 line in 1 file\nsrc/a.ts");
});

test("lines are shown with path and number, and on demand those around them", async () => {
  await using d = await fileDesk({ files });
  assert.equal(
    await d.ok("grep", { pattern: "a.c", output_mode: "content" }),
    "2 lines in 2 files\nsrc/a.ts:1:// a.c\nsrc/b.ts:2:let b = a.c;",
  );
  assert.equal(
    await d.ok("grep", { pattern: "a.c", output_mode: "content", context: 1 }),
    "2 lines in 2 files\nsrc/a.ts:1:// a.c\n--\nsrc/b.ts-1-let a = 1;\nsrc/b.ts:2:let b = a.c;\nsrc/b.ts-3-let c = 3;",
  );
  assert.equal(
    await d.ok("grep", { pattern: "let [ac]", regex: true, output_mode: "content", context: 1 }),
    "2 lines in 1 file\nsrc/b.ts:1:let a = 1;\nsrc/b.ts-2-let b = a.c;\nsrc/b.ts:3:let c = 3;\nsrc/b.ts-4-end",
  );
});

test("lines are counted for each file", async () => {
  await using d = await fileDesk({ files });
  assert.equal(await d.ok("grep", { pattern: "let", output_mode: "count" }), "3 lines in 1 file\nsrc/b.ts:3");
});

test("at most max_count results are shown, with the number of the others", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 150 }, (_, at) => [`/${String(at).padStart(3, "0")}.txt`, "x\nx\n"]),
  );
  await using d = await fileDesk({ files: many });
  const told = (left: number) =>
    `[${left} more are not shown. Give a narrower pattern, path or glob, or a higher max_count.]`;
  const paths = (await d.ok("grep", { pattern: "x" })).split("\n");
  assert.deepEqual(
    [paths.length, paths[0], paths[1], paths.at(-1)],
    [102, "300 lines in 150 files", "000.txt", told(50)],
  );
  const lines = (await d.ok("grep", { pattern: "x", output_mode: "content", max_count: 3, context: 1 })).split("\n");
  assert.deepEqual(lines, [
    "300 lines in 150 files",
    "000.txt:1:x",
    "000.txt:2:x",
    "--",
    "001.txt:1:x",
    "001.txt-2-x",
    told(297),
  ]);
});

test("long lines are cut, and a result never grows beyond what can be shown", async () => {
  await using d = await fileDesk({ files: { "/a.txt": `${"x".repeat(5_000)}\n`.repeat(300) } });
  const shown = await d.ok("grep", { pattern: "x", output_mode: "content", max_count: 300 });
  assert.match(shown, /\na\.txt:1:x{500} \[the line goes on: see it with read_file\]\n/);
  assert.ok(shown.length < 82_000);
  const [, left] = /\n\[(\d+) more are not shown\./.exec(shown)!;
  assert.equal(shown.match(/^a\.txt:/gm)!.length + Number(left), 300);
});

test("which lines are shown does not depend on the order in which they are found", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "" } });
  d.backend.grep = async function* () {
    for (let at = 29_999; at >= 0; at--) {
      const path = `/${String(Math.floor(at / 3)).padStart(5, "0")}.txt`;
      yield { path, line: (at % 3) + 1, text: `x${at}` };
    }
  };
  const shown = (await d.ok("grep", { pattern: "x", output_mode: "content", max_count: 4 })).split("\n");
  assert.deepEqual(shown, [
    "30000 lines in 10000 files",
    "00000.txt:1:x0",
    "00000.txt:2:x1",
    "00000.txt:3:x2",
    "00001.txt:1:x3",
    "[29996 more are not shown. Give a narrower pattern, path or glob, or a higher max_count.]",
  ]);
  const counted = (await d.ok("grep", { pattern: "x", output_mode: "count", max_count: 2 })).split("\n");
  assert.deepEqual(counted.slice(0, 3), ["30000 lines in 10000 files", "00000.txt:3", "00001.txt:3"]);
});

test("a search that would never end is stopped, and says so", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "" } });
  let given = 0;
  d.backend.grep = async function* () {
    for (;;) yield { path: "/a.txt", line: ++given, text: "x" };
  };
  assert.match(
    await d.ok("grep", { pattern: "x", output_mode: "count" }),
    /^100000 lines in 1 file\na\.txt:100000\n\[The search was stopped at 100000 lines/,
  );
  assert.equal(given, 100_001);
});

test("files that the rules hide are not found, and those that need an approval are not shown without one", async () => {
  const rules = pathRules(["read", "/src/a.ts", "deny"], ["read", "/README.md", "ask"]);
  await using d = await fileDesk({ files, rules });
  assert.equal(
    await d.ok("grep", { pattern: "a", output_mode: "content" }),
    [
      "2 lines in 1 file",
      "src/b.ts:1:let a = 1;",
      "src/b.ts:2:let b = a.c;",
      "[1 file left out: README.md. To look into one, call grep with its path: it has to be asked for.]",
    ].join("\n"),
  );
  const asked = d.send(["grep", { pattern: "axc", path: "README.md", output_mode: "content" }, "c1"]);
  while (d.harness.getDisplayState().pendingApproval === null) await new Promise((resolve) => setTimeout(resolve, 5));
  await d.harness.respondToToolApproval({ decision: "approve" });
  await asked;
  const ends = d.events.filter((event) => event.type === "tool_end");
  assert.equal(ends.at(-1)!.result.content, "1 line in 1 file\nREADME.md:1:axc");
});

test("an empty pattern, one of several lines, and a missing path are errors that say what to do", async () => {
  await using d = await fileDesk({ files });
  assert.match(await d.fails("grep", { pattern: "" }), /Invalid arguments for grep/);
  assert.match(await d.fails("grep", { pattern: "a\nb" }), /is looked for line by line: give one line of it/);
  assert.match(await d.fails("grep", { pattern: "a", path: "scr" }), /There is no file or directory scr\./);
});
