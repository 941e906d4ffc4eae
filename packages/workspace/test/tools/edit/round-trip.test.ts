import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { replaced } from "../../../src/tools/edit/replacement.ts";
import { forgivingView, plainView } from "../../../src/tools/edit/mapped-text.ts";
import { copied, fileDesk } from "../file-desk.ts";

const fragment = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("a", "b", "foo", " ", "  ", "\t", "$&", "$$", "\\", "(", "–", "“", "’", "\u00a0"),
  },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 6 }).map((text) => text.replace(/[\r\n\0]/g, "")) },
  { weight: 1, arbitrary: fc.constantFrom("😀", "é", "e\u0301", "\u2028", "日本") },
  { weight: 1, arbitrary: fc.nat({ max: 1_990 }).map((length) => "x".repeat(length)) },
);
const line = fc.array(fragment, { maxLength: 6 }).map((parts) => parts.join("").toWellFormed());
const lineEnd = fc.oneof({ weight: 3, arbitrary: fc.constant("\n") }, { weight: 3, arbitrary: fc.constant("\r\n") });

/** Texts of all kinds: mixed line ends, none at the end, with and without byte order mark. */
const source = fc
  .record({
    mark: fc.boolean(),
    lines: fc.array(fc.tuple(line, lineEnd), { minLength: 1, maxLength: 12 }),
    open: fc.option(line, { nil: "" }),
  })
  .map(({ mark, lines, open }) => (mark ? "\ufeff" : "") + lines.flat().join("") + open)
  // A file with only a byte order mark has no text to copy.
  .filter((text) => text !== "" && text !== "\ufeff");

const newText = fc.array(fc.oneof(line, fc.constant("\n")), { maxLength: 4 }).map((parts) => parts.join(""));

/** The text that `read_file` shows, and a part of it. */
const cutOut = (text: string, [a, b]: [number, number]): string => {
  const from = Math.floor(a * text.length);
  return text.slice(from, from + 1 + Math.floor(b * (text.length - from)));
};
const part = fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.double({ min: 0, max: 0.999, noNaN: true }));

test("text that read_file shows can be passed to edit_file unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(source, part, newText, async (text, where, put) => {
      await using d = await fileDesk({ files: { "/a.txt": text } });
      const lines = copied(await d.ok("read_file", { file_path: "a.txt" }));
      const view = (await plainView(text)).text;
      const isWhole = view.split("\n").every((one) => one.length <= 2_000);
      // Only the end of the last line is not shown.
      if (isWhole) assert.equal(lines, view.endsWith("\n") ? view.slice(0, -1) : view);
      // The shown part of a line that is cut can still be copied.
      const shown = isWhole ? lines : lines.split("\n").toSorted((a, b) => b.length - a.length)[0]!;
      const old = cutOut(shown, where).toWellFormed();
      if (old === "" || old === put || !shown.includes(old)) return;
      await d.ok("edit_file", { file_path: "a.txt", old_string: old, new_string: put, replace_all: true });
      assert.equal(
        (await plainView(d.backend.text("/a.txt")!)).text,
        view.replaceAll(old, () => put),
      );
    }),
    { numRuns: 100 },
  );
});

test("an edit changes only the replaced text: line endings, byte order mark and everything around it keep their bytes", async () => {
  await fc.assert(
    fc.asyncProperty(source, part, newText, async (text, where, put) => {
      const view = await plainView(text);
      const old = cutOut(view.text, where);
      const result = await replaced(text, { old, new: put, all: false });
      if (result.kind !== "done") return;
      const at = view.text.indexOf(old);
      assert.equal(result.forgiving, false);
      assert.ok(result.text.startsWith(text.slice(0, view.start(at))));
      assert.ok(result.text.endsWith(text.slice(view.end(at + old.length - 1))));
      assert.equal(
        (await plainView(result.text)).text,
        view.text.slice(0, at) + put + view.text.slice(at + old.length),
      );
      // A file with one kind of line ending keeps it.
      if (!/(?<!\r)\n/.test(text) && text.includes("\n")) assert.doesNotMatch(result.text, /(?<!\r)\n/);
      if (!text.includes("\r\n")) assert.doesNotMatch(result.text, /\r\n/);
    }),
    { numRuns: 3_000 },
  );
});

test("a similar match changes only its own lines", async () => {
  const worse = (text: string) =>
    text
      .replace(/[“”]/g, '"')
      .replace(/–/g, "-")
      .replace(/’/g, "'")
      .replace(/\u00a0/g, " ");
  await fc.assert(
    fc.asyncProperty(source, part, newText, async (text, where, put) => {
      const old = worse(cutOut((await plainView(text)).text, where)).replace(/[ \t]+$/gm, "");
      const result = await replaced(text, { old, new: put, all: false });
      if (result.kind !== "done" || !result.forgiving) return;
      const view = await forgivingView(text);
      const at = view.text.indexOf((await forgivingView(old)).text);
      const before = text.slice(0, text.slice(0, view.start(at)).lastIndexOf("\n") + 1);
      assert.ok(result.text.startsWith(before));
      const end = text.indexOf("\n", view.end(at + (await forgivingView(old)).text.length - 1) - 1);
      if (end >= 0) assert.ok(result.text.endsWith(text.slice(end + 1)));
      assert.ok((await forgivingView(result.text)).text.includes((await forgivingView(put)).text.trim()));
    }),
    { numRuns: 3_000 },
  );
});

test("a view maps each of its characters to its position", async () => {
  await fc.assert(
    fc.asyncProperty(source, async (text) => {
      for (const view of [await plainView(text), await forgivingView(text)]) {
        for (let at = 0; at < view.text.length; at++) {
          assert.equal(view.index(view.end(at) - 1), at);
          const original = text.slice(view.start(at), view.end(at));
          if (view.text[at] === "\n") assert.match(original, /^\r?\n$/);
          else assert.equal(original.length, 1);
        }
        assert.equal(view.index(text.length), view.text.length);
      }
    }),
    { numRuns: 300 },
  );
});
