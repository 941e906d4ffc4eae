import assert from "node:assert/strict";
import { test } from "node:test";
import { fileDesk } from "../file-desk.ts";

const lines = (count: number, of: (no: number) => string = (no) => `line ${no}`): string =>
  Array.from({ length: count }, (_, at) => `${of(at + 1)}\n`).join("");

test("a file is shown with its lines numbered, under a header that says which lines these are", async () => {
  await using d = await fileDesk({ files: { "/src/a.ts": "one\n\ttwo\nthree" } });
  const expected = "lines 1-3 of 3\n     1\tone\n     2\t\ttwo\n     3\tthree";
  assert.equal(await d.ok("read_file", { file_path: "/src/a.ts" }), expected);
  assert.equal(await d.ok("read_file", { file_path: "src/a.ts" }), expected);
  assert.equal(await d.ok("read_file", { file_path: "./src/../src//a.ts" }), expected);
});

test("if there is more, the header says where to continue", async () => {
  await using d = await fileDesk({ files: { "/a.txt": lines(4_500) } });
  const first = await d.ok("read_file", { file_path: "a.txt" });
  assert.match(first, /^lines 1-2000 of 4500; for more call read_file with offset 2000\n {5}1\tline 1\n/);
  assert.match(first, /\n {2}2000\tline 2000$/);
  const last = await d.ok("read_file", { file_path: "a.txt", offset: 4_000 });
  assert.match(last, /^lines 4001-4500 of 4500\n {2}4001\tline 4001\n/);
  assert.equal(
    await d.ok("read_file", { file_path: "a.txt", offset: 9, limit: 2 }),
    "lines 10-11 of 4500; for more call read_file with offset 11\n    10\tline 10\n    11\tline 11",
  );
});

test("an offset past the end is an error that says how many lines there are", async () => {
  await using d = await fileDesk({ files: { "/a.txt": lines(3) } });
  assert.equal(
    await d.fails("read_file", { file_path: "a.txt", offset: 3 }),
    "offset 3 is past the end: a.txt has 3 lines. Call read_file with a smaller offset.",
  );
});

test("following the offsets shows every line once, however much fits into one result", async () => {
  const text = lines(3_000, (no) => `${no}:${"x".repeat(no % 90)}`);
  await using d = await fileDesk({ files: { "/a.txt": text } });
  let seen = "";
  for (let offset = 0, next: string | undefined = "0"; next !== undefined; offset = Number(next)) {
    const shown = await d.ok("read_file", { file_path: "a.txt", offset: Number(next) });
    assert.ok(shown.length <= 81_000, `${shown.length}`);
    assert.doesNotMatch(shown, /characters left out here/);
    seen += shown.replace(/^.*\n/, "").replace(/^ *\d+\t/gm, "") + "\n";
    next = /offset (\d+)\n/.exec(shown)?.[1];
    assert.ok(next === undefined || Number(next) > offset);
  }
  assert.equal(seen, text);
});

test("an empty file says that it is empty", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "" } });
  assert.equal(await d.ok("read_file", { file_path: "a.txt" }), "a.txt is empty.");
});

test("a missing file is an error that names similar files and the next call", async () => {
  await using d = await fileDesk({ files: { "/src/index.ts": "", "/src/other.md": "" } });
  assert.equal(
    await d.fails("read_file", { file_path: "src/indx.ts" }),
    "There is no file or directory src/indx.ts. Did you mean src/index.ts? Call ls on src to see what is there.",
  );
  assert.equal(
    await d.fails("read_file", { file_path: "source/index.ts" }),
    "There is no file or directory source/index.ts. There is no directory source either. Call ls on . to see what is there.",
  );
});

test("a directory is an error that says to use ls", async () => {
  await using d = await fileDesk({ files: { "/src/index.ts": "" } });
  assert.match(await d.fails("read_file", { file_path: "src" }), /^src is a directory, not a file\. Call ls on it/);
  assert.match(await d.fails("read_file", { file_path: "/" }), /^\. is a directory/);
});

test("a path that escapes the root, or is not usable, is refused with the reason", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "" } });
  assert.match(
    await d.fails("read_file", { file_path: "../a.txt" }),
    /"\.\.\/a\.txt" escapes the root of the workspace/,
  );
  assert.match(await d.fails("read_file", { file_path: "src/../../a.txt" }), /escapes the root of the workspace/);
  assert.match(await d.fails("read_file", { file_path: "a\u0000.txt" }), /can't be a path/);
  assert.match(await d.fails("read_file", { file_path: "a\n.txt" }), /can't be a path/);
});

test("a line that is too long is cut, with a note without a line number, and its rest can be read in parts", async () => {
  const long = Array.from({ length: 1_200_000 }, (_, at) => (at % 7 === 0 ? "€" : String(at % 10))).join("");
  await using d = await fileDesk({ files: { "/a.json": `{\n${long}\n}` } });
  const page = await d.ok("read_file", { file_path: "a.json" });
  const remark =
    "      \t[line 2 goes on: 2000 of 1200000 characters are shown; for the rest call read_file with offset 1 and char_offset 2000]";
  assert.equal(page, `lines 1-3 of 3\n     1\t{\n     2\t${long.slice(0, 2_000)}\n${remark}\n     3\t}`);
  let seen = long.slice(0, 2_000);
  for (let pieces = 0, at = 2_000; at < long.length; pieces++) {
    assert.ok(pieces < 25);
    const piece = await d.ok("read_file", { file_path: "a.json", offset: 1, char_offset: at });
    const [head, text] = piece.split(/\n {5}2\t/);
    assert.match(head!, new RegExp(`^line 2 of 3, characters ${at + 1}-\\d+ of 1200000`));
    seen += text;
    at = Number(/char_offset (\d+)$/.exec(head!)?.[1] ?? long.length);
  }
  assert.ok(seen === long);
  assert.match(
    await d.fails("read_file", { file_path: "a.json", offset: 0, char_offset: 7 }),
    /char_offset 7 is past the end: line 1 of a\.json has 1 characters/,
  );
});

test("a character is never cut", async () => {
  const long = "😀".repeat(3_000);
  await using d = await fileDesk({ files: { "/a.txt": `x${long}` } });
  const shown = (await d.ok("read_file", { file_path: "a.txt" })).split("\n")[1]!.slice(7);
  assert.equal(shown, `x${"😀".repeat(999)}`);
  const rest = await d.ok("read_file", { file_path: "a.txt", char_offset: shown.length });
  assert.equal(rest.split("\t")[1], "😀".repeat(2_001));
});

test("Windows line ends and a byte order mark are not shown", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "\ufeffone\r\ntwo\r\n\r\nthree\r" } });
  assert.equal(
    await d.ok("read_file", { file_path: "a.txt" }),
    "lines 1-4 of 4\n     1\tone\n     2\ttwo\n     3\t\n     4\tthree\r",
  );
});

test("an image is a part of the result, up to 10 MiB", async () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);
  const large = new Uint8Array(10 * 1024 * 1024 + 1);
  await using d = await fileDesk({ files: { "/img/a.PNG": png, "/img/b.mp4": large, "/c.pdf": new Uint8Array() } });
  const [picture] = await d.calls(["read_file", { file_path: "img/a.PNG" }]);
  const [text, file] = picture!.content as [unknown, { blob: string }];
  assert.deepEqual(text, { type: "text", text: "img/a.PNG: image/png, 8 bytes" });
  assert.deepEqual({ ...file, blob: "" }, { type: "file", mediaType: "image/png", filename: "a.PNG", blob: "" });
  assert.equal(picture!.isError, false);
  assert.match(
    await d.fails("read_file", { file_path: "img/b.mp4" }),
    /^img\/b\.mp4 \(video\/mp4\) has 10485761 bytes; up to 10485760 \(10 MiB\) can be shown/,
  );
  assert.equal(await d.ok("read_file", { file_path: "c.pdf" }), "c.pdf is empty.");
});

test("a file that is neither text nor media says so, with its size and what it looks like", async () => {
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
  await using d = await fileDesk({
    files: {
      "/a.bin": bytes("ab\0cd"),
      "/a.zip": bytes("PK\u0003\u0004\0\0rest"),
      "/a.txt": new Uint8Array(Buffer.from("\ufeffhello", "utf16le")),
      "/a.db": bytes("SQLite format 3\0rest"),
    },
  });
  assert.match(
    await d.fails("read_file", { file_path: "a.bin" }),
    /has 5 bytes and looks like data of an unknown kind/,
  );
  assert.match(await d.fails("read_file", { file_path: "a.zip" }), /has 10 bytes and looks like a zip archive/);
  assert.match(await d.fails("read_file", { file_path: "a.txt" }), /has 12 bytes and looks like text in UTF-16/);
  assert.match(await d.fails("read_file", { file_path: "a.db" }), /looks like an SQLite database/);
});

test("bytes that are not UTF-8 are marked, with an explanation", async () => {
  await using d = await fileDesk({ files: { "/a.txt": new Uint8Array([0x63, 0x61, 0x66, 0xe9]) } });
  const shown = await d.ok("read_file", { file_path: "a.txt" });
  assert.equal(
    shown,
    "lines 1-1 of 1\n     1\tcaf\ufffd\n[\ufffd may stand for bytes that are not UTF-8. Then edit_file can't change this file.]",
  );
});
