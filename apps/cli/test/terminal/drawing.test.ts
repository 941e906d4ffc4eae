import assert from "node:assert/strict";
import { test } from "node:test";
import { line, text, type Line } from "../../src/terminal/line.ts";
import { features, setUp } from "./stage.ts";

const size = { columns: 40, rows: 8 };
const live = (...rows: string[]): Line[] => rows.map((row) => line(row));
const frame = (rows: string[], print: string[] = []) => ({
  print: print.map((row) => line(row)),
  live: live(...rows),
  cursor: { row: rows.length - 1, column: 2 },
});
const RULE = "─".repeat(39);

test("a frame that shows the same writes nothing", async () => {
  const { output, show } = setUp(size);
  await show(frame(["answer", RULE, "> ❤️ typed"]));
  const { length } = output.written;
  await show(frame(["answer", RULE, "> ❤️ typed"]));
  assert.equal(output.written.length, length);
});

test("a frame is one write in mode 2026, with only what differs, and puts the cursor into the composer", async () => {
  const { output, show } = setUp(size);
  await show(frame(["The loop starts", RULE, "> ab"]));
  await show(frame(["The loop starts at 1", RULE, "> ab"]));
  assert.equal(output.written.at(-1), "\u001b[?2026h\u001b[2A\u001b[16G at 1\u001b[2B\u001b[3G\u001b[?2026l");
});

test("a line that is printed costs its own bytes: the rows below are moved, not written", async () => {
  const { output, show } = setUp(size);
  const below = [RULE, "> ab", RULE, "build · sonnet-5"];
  for (let at = 0; at < 9; at++) await show(frame(["The loop", ...below]));
  await show(frame(["so that", ...below], ["The loop starts at 1"]));
  assert.ok(Buffer.byteLength(output.written.at(-1)!) < 100, JSON.stringify(output.written.at(-1)));
  assert.deepEqual(output.rows().filter(Boolean), ["The loop starts at 1", "so that", ...below]);
});

test("a printed line that is longer than the screen is wide is broken by the terminal, so it copies as one line", async () => {
  const { output, show } = setUp(size);
  const url = `https://example.com/${"path/".repeat(20)}`;
  await show(frame(["> "], [url, "next"]));
  assert.deepEqual(output.linesBefore(output.cursor.row), [url, "next"]);
});

test("the last column of a live row stays empty, and a row is one row whatever the terminal makes of an emoji", async () => {
  const { output, show } = setUp({ columns: 10, rows: 6 });
  await show(frame(["x".repeat(50), "👨‍👩‍👧".repeat(20), "漢".repeat(20), "> "]));
  const rows = output.rows();
  assert.equal(rows[0], "x".repeat(9));
  assert.equal(rows[2], "漢".repeat(4));
  assert.equal(rows[3], "> ");
});

test("live rows that do not fit are counted, and the row of the cursor stays", async () => {
  const { output, show } = setUp({ columns: 40, rows: 5 });
  await show(
    frame(
      Array.from({ length: 9 }, (_, at) => `row ${at}`),
      ["printed"],
    ),
  );
  assert.deepEqual(output.rows().filter(Boolean), ["printed", "… 6 more lines", "row 6", "row 7", "row 8"]);
  await show({ ...frame(Array.from({ length: 9 }, (_, at) => `row ${at}`)), cursor: { row: 2, column: 0 } });
  assert.deepEqual(output.rows().filter(Boolean), ["printed", "… 6 more lines", "row 2", "row 3", "row 4"]);
});

test("a screen of 1 × 1 is survived, and what was printed there is not lost", async () => {
  const { output, show } = setUp(size);
  await show(frame(["answer", RULE, "> "], ["one"]));
  await output.resize({ columns: 1, rows: 1 });
  await show(frame(["answer", RULE, "> "], ["two"]));
  await output.resize(size);
  await show(frame(["answer", RULE, "> "], ["three"]));
  const printed = output.linesBefore(output.cursor.row - 2).filter((row) => /^(one|two|three)$/.test(row));
  assert.deepEqual(printed, ["one", "two", "three"]);
  assert.deepEqual(output.rows().slice(output.cursor.row - 2, output.cursor.row + 1), ["answer", RULE, "> "]);
});

test("resizes leave no stale rows while the live rows fit on the screen", async () => {
  const { output, show } = setUp({ columns: 80, rows: 24 });
  const rows = (columns: number) => [
    "answer",
    "─".repeat(columns - 1),
    "> ab",
    "─".repeat(columns - 1),
    "build · sonnet-5",
  ];
  await show(frame(rows(80), ["one"]));
  for (const columns of [60, 31, 100, 40, 20, 120]) {
    await output.resize({ columns, rows: 24 });
    await show(frame(rows(columns), [`at ${columns}`]));
  }
  const printed = ["one", ...[60, 31, 100, 40, 20, 120].map((columns) => `at ${columns}`)];
  assert.deepEqual(output.rows().filter(Boolean), [...printed, ...rows(120)]);
});

test("the screen is never cleared, and no scroll region, mouse mode or colour beyond the 16 is used", async () => {
  const { output, show, screen } = setUp(size);
  const colorful: Line = {
    spans: [
      { text: text("red"), style: { color: "red", bold: true } },
      { text: text("bright"), style: { color: "brightWhite" } },
    ],
  };
  for (let at = 0; at < 30; at++) {
    await show({
      print: [colorful, line("x".repeat(at * 7))],
      live: live(...Array<string>(at % 9).fill("row")),
      cursor: null,
    });
    await output.resize({ columns: 20 + at, rows: 3 + (at % 9) });
  }
  output.writeNow(screen.leave());
  const all = output.written.join("");
  const bodies = all.split("\u001b[").slice(1);
  const sequences = new Set(bodies.map((body) => body.replace(/^([<-?]?)[\d;]*([@-~])[^]*$/, "$1$2")));
  for (const sequence of sequences)
    assert.ok(["A", "B", "G", "J", "K", "L", "M", "m", "?h", "?l"].includes(sequence), sequence);
  assert.doesNotMatch(all, /\[[23]J|\?1049|\?100\d|[34]8[;:]/);
  assert.ok(all.includes("\u001b[1;31mred\u001b[0;97mbright\u001b[m"));
});

test("with NO_COLOR there is no colour; bold and inverse stay", async () => {
  const { output, show } = setUp(size, { ...features, colors: false });
  await show({
    print: [line("plain", { color: "red" }), line("bold", { color: "red", bold: true })],
    live: [],
    cursor: null,
  });
  assert.ok(output.written.join("").includes("plain\r\n\u001b[1mbold\u001b[m"));
});

test("in a locale without UTF-8 only ASCII is written, in the same columns", async () => {
  const { output, show } = setUp(size, { ...features, unicode: false });
  await show(frame(["⠋ answers · 12 s", "──", "✓ größe 漢字 👍 …"], ["› 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"]));
  // oxlint-disable-next-line no-control-regex
  assert.match(output.written.join(""), /^[\u0000-\u007e]*$/);
  assert.deepEqual(output.rows().filter(Boolean).slice(-3), ["| answers . 12 s", "--", "+ gr??e ???? ?? ~"]);
});
