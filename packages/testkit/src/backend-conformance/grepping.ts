import assert from "node:assert/strict";
import { type BackendCheck, rejects } from "./files.ts";

const TREE = {
  "/a.txt": "first line\nsecond line\nthird\n",
  "/src/b.ts": "const x = 1;\nconst second = x + 2; // (a|b)*\n",
  "/src/lib/c.ts": "no line break at the end: second",
  "/docs/crlf.txt": "one\r\nsecond\r\nthree\r\n",
  "/docs/empty.txt": "",
  "/docs/unicode.md": "naïve café ÄÖÜ\n日本語 second\n😀\n",
};

export function grepping(check: BackendCheck): void {
  check("lines that contain a text are found, with their numbers", async (files) => {
    await files.writeAll(TREE);
    for (const regex of [false, true]) {
      assert.deepEqual(await files.hits("second", { regex }), [
        "/a.txt:2:second line",
        "/docs/crlf.txt:2:second",
        "/docs/unicode.md:2:日本語 second",
        "/src/b.ts:2:const second = x + 2; // (a|b)*",
        "/src/lib/c.ts:1:no line break at the end: second",
      ]);
      assert.deepEqual(await files.hits("nowhere", { regex }), []);
    }
  });

  check("a pattern is literal text unless it is declared a regular expression", async (files) => {
    await files.writeAll(TREE);
    assert.deepEqual(await files.hits("(a|b)*"), ["/src/b.ts:2:const second = x + 2; // (a|b)*"]);
    assert.deepEqual(await files.hits("s.cond l"), []);
    assert.deepEqual(await files.hits("^s.cond l", { regex: true }), ["/a.txt:2:second line"]);
    assert.deepEqual(await files.hits("d$", { regex: true, path: "/docs" }), [
      "/docs/crlf.txt:2:second",
      "/docs/unicode.md:2:日本語 second",
    ]);
    assert.deepEqual(await files.hits("\\bx\\b", { regex: true, path: "/src" }), [
      "/src/b.ts:1:const x = 1;",
      "/src/b.ts:2:const second = x + 2; // (a|b)*",
    ]);
  });

  check(
    "searches are case-sensitive unless ignoreCase is set, which also covers letters beyond ASCII",
    async (files) => {
      await files.writeAll(TREE);
      assert.deepEqual(await files.hits("THIRD"), []);
      for (const regex of [false, true]) {
        assert.deepEqual(await files.hits("THIRD", { ignoreCase: true, regex }), ["/a.txt:3:third"]);
        assert.deepEqual(await files.hits("äöü", { ignoreCase: true, regex }), ["/docs/unicode.md:1:naïve café ÄÖÜ"]);
      }
    },
  );

  check("a search stays below its path, which may be a file", async (files) => {
    await files.writeAll(TREE);
    assert.deepEqual(await files.hits("second", { path: "/src/lib" }), [
      "/src/lib/c.ts:1:no line break at the end: second",
    ]);
    assert.deepEqual(await files.hits("second", { path: "/a.txt" }), ["/a.txt:2:second line"]);
    await rejects(files.hits("x", { path: "/none" }), "not_found");
  });

  check("only files that match the glob are searched", async (files) => {
    await files.writeAll(TREE);
    const where = async (glob: string, path = "/") =>
      (await files.grep("second", { glob, path })).map((match) => match.path).toSorted();
    assert.deepEqual(await where("*.ts"), ["/src/b.ts", "/src/lib/c.ts"]);
    assert.deepEqual(await where("**/*.ts"), ["/src/b.ts", "/src/lib/c.ts"]);
    assert.deepEqual(await where("src/*.ts"), ["/src/b.ts"]);
    assert.deepEqual(await where("lib/*.ts", "/src"), ["/src/lib/c.ts"]);
    assert.deepEqual(await where("/src/lib/**", "/src"), ["/src/lib/c.ts"]);
    assert.deepEqual(await where("!*.ts"), ["/a.txt", "/docs/crlf.txt", "/docs/unicode.md"]);
    assert.deepEqual(await where("*.{md,txt}", "/docs"), ["/docs/crlf.txt", "/docs/unicode.md"]);
    assert.deepEqual(await where("none"), []);
  });

  check("binary files are not searched", async (files) => {
    await files.writeAll({
      "/bin": Buffer.from("second\0second\n"),
      "/late": Buffer.from(`second\n${"x".repeat(5_000)}\0`),
      "/text": "second",
    });
    for (const regex of [false, true]) {
      assert.deepEqual(await files.hits("second", { regex }), ["/text:1:second"]);
      assert.deepEqual(await files.hits("second", { regex, path: "/bin" }), []);
    }
  });

  check("bytes that are not valid text don't end a line", async (files) => {
    await files.write("/latin1", Buffer.from("caf\xe9 second\nnext second\n", "latin1"));
    for (const regex of [false, true])
      assert.deepEqual(await files.hits("second", { regex }), ["/latin1:1:caf\ufffd second", "/latin1:2:next second"]);
  });

  check("a line of 5 MB is found, and truncated", async (files) => {
    const long = `${"x".repeat(2_500_000)}needle${"y".repeat(2_500_000)}`;
    await files.write("/src/min.js", `before\n${long}\nafter needle\n`);
    for (const regex of [false, true]) {
      const hits = await files.grep("needle", { regex });
      assert.deepEqual(
        hits.map(({ path, line }) => [path, line]),
        [
          ["/src/min.js", 2],
          ["/src/min.js", 3],
        ],
      );
      assert.deepEqual(
        hits.map(({ text }) => text),
        ["x".repeat(2_000), "after needle"],
      );
    }
  });

  check("a match across the chunks of a file is found", async (files) => {
    const content = Buffer.alloc(600_000, "-");
    for (const at of [65_533, 131_070, 262_141]) content.write("needle", at);
    await files.write("/one-line", content);
    for (const [regex, ignoreCase] of [
      [false, false],
      [false, true],
      [true, false],
    ] as const)
      assert.equal((await files.grep(ignoreCase ? "NEEDLE" : "needle", { regex, ignoreCase })).length, 1);
  });

  check("many matches in many files are all found", async (files) => {
    const lines = Array.from({ length: 500 }, (_, at) => (at % 5 === 0 ? `match ${at}` : `line ${at}`)).join("\n");
    await Promise.all(Array.from({ length: 60 }, (_, at) => files.write(`/many/${at % 7}/${at}.txt`, lines)));
    for (const regex of [false, true]) assert.equal((await files.grep("match", { regex })).length, 6_000);
  });

  check("an empty pattern matches every line", async (files) => {
    await files.write("/a", "one\n\nthree");
    for (const regex of [false, true])
      assert.deepEqual(await files.hits("", { regex }), ["/a:1:one", "/a:2:", "/a:3:three"]);
  });

  check("a grep ends when its reader stops", async (files) => {
    await files.write("/large", "match\n".repeat(200_000));
    for (const regex of [false, true]) {
      let count = 0;
      for await (const _ of files.backend.grep({ pattern: "match", path: "/", regex, ignoreCase: false }, files.reach))
        if (++count === 3) break;
      assert.equal(count, 3);
    }
  });
}
