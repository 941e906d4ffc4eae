import assert from "node:assert/strict";
import { test } from "node:test";
import { fileDesk, edits, type Args } from "../file-desk.ts";

/** A desk whose thread has read one file. */
async function opened(content: string | Uint8Array, path = "/a.txt", permissions = edits) {
  const d = await fileDesk({ files: { [path]: content }, permissions });
  await d.ok("read_file", { file_path: path });
  return Object.assign(d, {
    edit: (args: Args) => d.ok("edit_file", { file_path: path, ...args }),
    refused: (args: Args) => d.fails("edit_file", { file_path: path, ...args }),
    text: () => d.backend.text(path),
  });
}

test("a text is replaced, and the result shows the changed lines", async () => {
  await using d = await opened("1\n2\n3\n4\n5\n6\n7\n");
  assert.equal(
    await d.edit({ old_string: "4\n", new_string: "four\nand a half\n" }),
    "Edited a.txt: 1 place changed.\n     2\t2\n     3\t3\n     4\tfour\n     5\tand a half\n     6\t5\n     7\t6",
  );
  assert.equal(d.text(), "1\n2\n3\nfour\nand a half\n5\n6\n7\n");
});

test("$& and $$ in a replacement are plain text", async () => {
  await using d = await opened("price: X\n");
  await d.edit({ old_string: "X", new_string: "$& $$ $1 $` $' \\n \\1" });
  assert.equal(d.text(), "price: $& $$ $1 $` $' \\n \\1\n");
  await d.edit({ old_string: "$& $$ $1", new_string: ".*" });
  assert.equal(d.text(), "price: .* $` $' \\n \\1\n");
});

test("two edits of one file in one step are both applied, in any order", async () => {
  await using d = await opened("one\ntwo\nthree\n");
  const edit = (old_string: string, new_string: string): [string, Args] => [
    "edit_file",
    { file_path: "a.txt", old_string, new_string },
  ];
  const done = await d.calls(edit("one", "1"), edit("two", "2"), edit("three", "3"));
  assert.deepEqual(
    done.map(({ isError }) => isError),
    [false, false, false],
  );
  assert.equal(d.text(), "1\n2\n3\n");
  const chain = d.changes.map(({ before, after }) => [before!.hash, after!.hash]);
  assert.equal(chain[0]![1], chain[1]![0]);
  assert.equal(chain[1]![1], chain[2]![0]);
});

test("twenty edits of one file in one step are all applied, on a slow disk", async () => {
  const words = Array.from({ length: 20 }, (_, at) => `word${at};`);
  await using d = await opened(words.join("\n"));
  d.backend.hook = (operation) =>
    operation === "write" ? new Promise((resolve) => setTimeout(resolve, 1)) : undefined;
  await d.calls(
    ...words.map((old_string, at): [string, Args] => {
      return ["edit_file", { file_path: "a.txt", old_string, new_string: `new${at};` }];
    }),
  );
  assert.equal(d.text(), words.map((word) => word.replace("word", "new")).join("\n"));
});

test("edits that are approved one by one are all applied, in any order", async () => {
  await using d = await opened("one\ntwo\n", "/a.txt", []);
  const turn = d.send(
    ["edit_file", { file_path: "a.txt", old_string: "one", new_string: "1" }, "first"],
    ["edit_file", { file_path: "a.txt", old_string: "two", new_string: "2" }, "second"],
  );
  const pending = () => Object.keys(d.harness.getDisplayState().pendingApprovals).length;
  while (pending() < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  await d.harness.respondToToolApproval({ toolCallId: "second", decision: "approve" });
  await d.harness.respondToToolApproval({ toolCallId: "first", decision: "approve" });
  await turn;
  assert.equal(d.text(), "1\n2\n");
});

test("a read after an edit, in the same step, shows the edited file", async () => {
  await using d = await opened("one\n");
  const [, read] = await d.calls(
    ["edit_file", { file_path: "a.txt", old_string: "one", new_string: "1" }],
    ["read_file", { file_path: "a.txt" }],
  );
  assert.equal(read!.text, "lines 1-1 of 1\n     1\t1");
  await d.edit({ old_string: "1", new_string: "one" });
});

test("a file that was not read is not edited, and one that changed since is not either", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  const args = { file_path: "a.txt", old_string: "old", new_string: "new" };
  assert.match(await d.fails("edit_file", args), /has not been read in this thread\. Call read_file on it first/);
  await d.ok("read_file", { file_path: "a.txt" });
  d.backend.put("/a.txt", "old, and more");
  assert.match(await d.fails("edit_file", args), /has changed since this thread last read.*Call read_file on it again/);
  assert.equal(d.backend.text("/a.txt"), "old, and more");
});

test("a missing file and a directory are errors that name the next call", async () => {
  await using d = await opened("old", "/src/a.txt");
  const args = { old_string: "a", new_string: "b" };
  assert.match(
    await d.fails("edit_file", { file_path: "src/b.txt", ...args }),
    /Did you mean src\/a\.txt\? Call ls on src/,
  );
  assert.match(await d.fails("edit_file", { file_path: "src", ...args }), /^src is a directory/);
});

test("a text that is found several times is an error that says where, and replace_all takes them all", async () => {
  await using d = await opened("a = 1\nb\na = 1\nc a = 1\n");
  assert.equal(
    await d.refused({ old_string: "a = 1", new_string: "a = 2" }),
    "old_string was found 3 times in a.txt, at lines 1, 3, 4. Give more of the lines around the one that you mean, or set replace_all to change all of them.",
  );
  assert.match(
    await d.edit({ old_string: "a = 1", new_string: "a = 2", replace_all: true }),
    /^Edited a\.txt: 3 places changed\./,
  );
  assert.equal(d.text(), "a = 2\nb\na = 2\nc a = 2\n");
});

test("a text that is found at two places that overlap is found twice: either of them may be meant", async () => {
  await using d = await opened("{\n  }\n  }\n  }\n\u201ca\u201da\u201d\n");
  assert.match(
    await d.refused({ old_string: "  }\n  }\n", new_string: "  }\n\n  }\n" }),
    /^old_string was found 2 times in a\.txt, at lines 2, 3\./,
  );
  assert.match(
    await d.refused({ old_string: '"a"', new_string: '"b"' }),
    /^old_string was found 2 times in a\.txt \(passing over .*\), at lines 5, 5\./,
  );
  await d.edit({ old_string: "{\n  }\n  }\n", new_string: "{\n" });
  assert.equal(d.text(), "{\n  }\n\u201ca\u201da\u201d\n");
});

test("a text that is not found is an error that shows the most similar lines", async () => {
  await using d = await opened("import x;\n\nfunction total(items) {\n  return items.length;\n}\n");
  assert.equal(
    await d.refused({ old_string: "function totals(item) {\n  return 1;", new_string: "" }),
    "old_string was not found in a.txt, not even by passing over white space at line ends and the kinds of quotes, dashes and spaces. The most similar lines are:\n     3\tfunction total(items) {\n     4\t  return items.length;\nCopy what stands there, without the numbers, or call read_file to see more.",
  );
  assert.match(
    await d.refused({ old_string: "zzzzzz", new_string: "" }),
    /spaces\. Call read_file to see what is there\.$/,
  );
});

test("an old_string that was copied with its line numbers fails with a message that says so", async () => {
  await using d = await opened("one\ntwo\n");
  assert.match(
    await d.refused({ old_string: "     1\tone\n     2\ttwo", new_string: "x" }),
    /It begins with line numbers: leave them out/,
  );
});

test("an empty old_string, and one that equals new_string, are errors that say what to do", async () => {
  await using d = await opened("one\r\ntwo\n");
  assert.match(await d.refused({ old_string: "", new_string: "x" }), /^old_string is empty\. To insert something/);
  assert.match(await d.refused({ old_string: "one", new_string: "one" }), /are the same: there is nothing to change/);
  assert.match(await d.refused({ old_string: "one\r\n", new_string: "one\n" }), /differ only in line ends/);
});

test("white space at line ends and the kinds of quotes, dashes and spaces are ignored, and the result says so", async () => {
  const text = "keep “this”  \nsay(‘hi’)\u00a0– now \t\nkeep – that\u00a0\n";
  await using d = await opened(text);
  const told = await d.edit({ old_string: "say('hi') - now\nkeep", new_string: "say('ho') - now\nkeep" });
  assert.match(
    told,
    /^Edited a\.txt: 1 place changed\.\n\[old_string was not there as given\. It was found by passing over/,
  );
  assert.equal(d.text(), text.replace("‘hi’", "‘ho’"));
});

test("white space is ignored only at the end of a line", async () => {
  await using d = await opened("returned\nreturn\n");
  await d.edit({ old_string: "return ", new_string: "return x" });
  assert.equal(d.text(), "returned\nreturn x\n");
  assert.match(await d.refused({ old_string: "x  y", new_string: "" }), /not found/);
});

test("white space at the end of a line stays there, unless the line ends elsewhere now", async () => {
  await using d = await opened("one  \ntwo \nthree\n");
  await d.edit({ old_string: "one\ntwo\n", new_string: "one\n1½\ntwo\n" });
  assert.equal(d.text(), "one  \n1½\ntwo \nthree\n");
  await d.edit({ old_string: "two\nthree", new_string: "two three" });
  assert.equal(d.text(), "one  \n1½\ntwo three\n");
  await d.edit({ old_string: "one\n1½", new_string: "one;\n1½" });
  assert.equal(d.text(), "one;  \n1½\ntwo three\n");
});

test("an exact match is preferred to a similar one before it", async () => {
  await using d = await opened("a – b\na - b\n");
  await d.edit({ old_string: "a - b", new_string: "c" });
  assert.equal(d.text(), "a – b\nc\n");
});

test("several similar matches are as ambiguous as several exact ones", async () => {
  await using d = await opened("“a”\n„a‟\n");
  assert.match(await d.refused({ old_string: '"a"', new_string: "b" }), /found 2 times in a\.txt \(passing over/);
  await d.edit({ old_string: '"a"', new_string: '"b"', replace_all: true });
  assert.equal(d.text(), "“b”\n„b‟\n");
});

test("Windows line ends and the byte order mark stay", async () => {
  await using d = await opened("\ufeffone\r\ntwo\r\nthree");
  await d.edit({ old_string: "one\ntwo", new_string: "1\n1½\n2" });
  assert.equal(d.text(), "\ufeff1\r\n1½\r\n2\r\nthree");
  await d.edit({ old_string: "three", new_string: "3\n4" });
  assert.equal(d.text(), "\ufeff1\r\n1½\r\n2\r\n3\r\n4");
});

test("in a file of mixed line ends every line keeps its own", async () => {
  await using d = await opened("a\r\nb\nc\r\nd\n");
  await d.edit({ old_string: "a\nb\nc\nd", new_string: "a\nb\nC\nd" });
  assert.equal(d.text(), "a\r\nb\nC\r\nd\n");
  await d.edit({ old_string: "a\n", new_string: "a\na2\n" });
  assert.equal(d.text(), "a\r\na2\nb\nC\r\nd\n");
});

test("a file that is not UTF-8 is not edited: the rest of it would be damaged", async () => {
  const bytes = new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a, 0x78]);
  await using d = await opened(bytes);
  assert.match(await d.refused({ old_string: "x", new_string: "y" }), /is not text in UTF-8/);
  assert.deepEqual(d.backend.files.get("/a.txt")!.bytes, bytes);
});

test("long changes, and many changes, are shown in part", async () => {
  await using d = await opened("x\n".repeat(10));
  const many = await d.edit({ old_string: "x", new_string: "y", replace_all: true });
  assert.match(many, /^Edited a\.txt: 10 places changed\.\n {5}1\ty\n[^]*\n\[7 more places are not shown\]$/);
  await d.edit({ old_string: "y\n".repeat(10), new_string: "z" });
  const long = await d.edit({ old_string: "z", new_string: "w\n".repeat(100) });
  assert.match(long, /\n\[the change goes on up to line 101\]$/);
  assert.ok(long.split("\n").length < 50);
});

test("half of a surrogate pair is refused, so no edit damages a character", async () => {
  await using d = await opened("a 😀 b 😀\n");
  const message = /holds half of a surrogate pair/;
  assert.match(await d.refused({ old_string: "a \ud83d", new_string: "a " }), message);
  assert.match(await d.refused({ old_string: "\ude00", new_string: "x", replace_all: true }), message);
  assert.match(await d.refused({ old_string: "b", new_string: "\ude00" }), message);
  assert.equal(d.text(), "a 😀 b 😀\n");
  await d.edit({ old_string: "😀 b", new_string: "😁 b" });
  assert.equal(d.text(), "a 😁 b 😀\n");
});
