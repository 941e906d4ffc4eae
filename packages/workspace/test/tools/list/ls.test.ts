import assert from "node:assert/strict";
import { test } from "node:test";
import { fileDesk, pathRules } from "../file-desk.ts";

test("a directory is listed with type, size and time, directories first, by paths that work in commands", async () => {
  await using d = await fileDesk({
    files: { "/src/b.ts": "12", "/src/a.ts": "1", "/src/lib/c.ts": "", "/src/.env": "" },
  });
  assert.equal(
    await d.ok("ls", { path: "src" }),
    [
      "4 entries in src",
      "directory            -  1970-01-01T00:00:00Z  src/lib/",
      "file                 0  2026-01-01T00:00:04Z  src/.env",
      "file                 1  2026-01-01T00:00:02Z  src/a.ts",
      "file                 2  2026-01-01T00:00:01Z  src/b.ts",
    ].join("\n"),
  );
});

test("a link says where it leads", async () => {
  await using d = await fileDesk({ files: { "/src/b.ts": "12" } });
  d.backend.links.set("/link", "/src");
  assert.match(await d.ok("ls"), /Z {2}link\/ -> src\n/);
});

test("without a path the root is listed, and an empty directory says that it is empty", async () => {
  await using d = await fileDesk({ files: { "/src/a.ts": "" } });
  assert.equal(await d.ok("ls"), "1 entry in .\ndirectory            -  1970-01-01T00:00:00Z  src/");
  d.backend.files.clear();
  assert.equal(await d.ok("ls", { path: "/src" }), "src is empty.");
});

test("a file and a missing directory are errors that name the next call", async () => {
  await using d = await fileDesk({ files: { "/src/a.ts": "" } });
  assert.match(await d.fails("ls", { path: "src/a.ts" }), /^src\/a\.ts is a file, not a directory\. Call read_file/);
  assert.match(await d.fails("ls", { path: "sr" }), /^There is no file or directory sr\. Did you mean src\?/);
  assert.match(await d.fails("ls", { path: "../" }), /escapes the root of the workspace/);
});

test("more than 1000 entries are not shown, and it says how to see the others", async () => {
  const files = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`/many/${at}.txt`, ""]));
  await using d = await fileDesk({ files });
  const shown = (await d.ok("ls", { path: "many" })).split("\n");
  assert.equal(shown.length, 1_002);
  assert.equal(shown[0], "1500 entries in many");
  assert.equal(
    shown.at(-1),
    '[500 more are not shown. To see them call glob with path many and a pattern such as "a*".]',
  );
});

test("files that the rules hide are neither listed nor found", async () => {
  const rules = pathRules(["read", "/secret{,/**}", "deny"]);
  await using d = await fileDesk({ files: { "/secret/a": "", "/secretly": "" }, rules });
  assert.equal(await d.ok("ls"), "1 entry in .\nfile                 0  2026-01-01T00:00:02Z  secretly");
  assert.match(await d.fails("ls", { path: "secret" }), /^Denied: a rule forbids this call/);
  const told = await d.fails("read_file", { file_path: "secre" });
  assert.match(told, /Did you mean secretly\? /);
});

test("a name can't imitate other lines of the result", async () => {
  await using d = await fileDesk({ files: { "/a\nfile 0 b": "" } });
  assert.match(await d.ok("ls"), /^1 entry in \.\nfile .*Z {2}"a\\nfile 0 b"$/);
});
