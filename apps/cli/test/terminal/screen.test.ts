import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Frame } from "../../src/terminal/frame.ts";
import { line, text, type Line, type Style } from "../../src/terminal/line.ts";
import type { Size } from "../../src/terminal/terminal-port.ts";
import { clipped, graphemes, greatestWidth, isSimple } from "../../src/terminal/width.ts";
import { plainText, setUp } from "./stage.ts";

const RUNS = 200;
const styles: fc.Arbitrary<Style | undefined> = fc.constantFrom(
  undefined,
  { color: "red" },
  { bold: true, color: "brightBlue" },
  { inverse: true },
);
const letters = fc.constantFrom("a", "b", "-", "é", "─", "漢", "字", "👍", "❤️", "👨‍👩‍👧", "e\u0301");
const spans = (unit: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(fc.record({ text: fc.string({ unit, maxLength }).map((some) => text(some)), style: styles }), {
    maxLength: 3,
  });
/** Rows as they are drawn: some begin like those before, and those at the bottom stay. */
const SENTENCE = graphemes("The loop─ ❤️ é starts 漢字 at 👍 1, so the 👨‍👩‍👧 first");
const growing = fc.nat(SENTENCE.length).map((length) => [{ text: text(SENTENCE.slice(0, length).join("")) }]);
const BOTTOM = ["─".repeat(29), `> ${"typed ".repeat(4)}`, "build · sonnet-5 · main · 1 queued"];
const live = fc
  .tuple(fc.array(fc.oneof(spans(letters, 9), growing), { maxLength: 7 }), fc.nat(BOTTOM.length))
  .map(([lines, bottom]) => [
    ...lines.map((some, at): Line => ({ spans: [{ text: text(`L${at}`) }, ...some] })),
    ...BOTTOM.slice(0, bottom).map((row) => line(`B${row}`)),
  ]);
/** When xterm.js breaks lines anew, it mixes up the code points of graphemes that have several. */
const unjoined = letters.filter((letter) => Array.from(letter).length === 1);
const drawn = (unit: fc.Arbitrary<string>) =>
  fc.record({
    type: fc.constant("frame" as const),
    print: fc.array(spans(unit, 14), { maxLength: 4 }),
    live,
    cursor: fc.option(fc.record({ row: fc.nat(9), column: fc.nat(20) })),
  });
const resize = fc.record({
  type: fc.constant("resize" as const),
  columns: fc.integer({ min: 2, max: 60 }),
  rows: fc.integer({ min: 2, max: 14 }),
});
type Operation =
  | ({ type: "resize" } & Size)
  | { type: "frame"; print: Line["spans"][]; live: Line[]; cursor: Frame["cursor"] };

/** The rows that a screen of this size must show of a frame, and where the first of them is. */
function expected({ live: lines, cursor }: Frame, { columns, rows }: Size): string[] {
  const most = Math.max(1, rows - 1);
  const clip = (some: string) => clipped(some, columns - 1);
  if (lines.length <= most) return lines.map((one) => clip(plainText(one)));
  const kept = Math.max(1, most - 1);
  const from = Math.min(lines.length - kept, cursor ? Math.min(cursor.row, lines.length - 1) : Infinity);
  const shown = lines.slice(from, from + kept).map(plainText);
  if (most > 1) shown.unshift(`… ${lines.length - kept} more lines`);
  return shown.map(clip);
}

const cutTo = (row: string, length: number): string => row.slice(0, length);

/** Performs these operations; checks what the terminal shows, and that the printed lines are above, each once. */
async function replay(operations: readonly Operation[]): Promise<{ above: string[]; printed: string[] }> {
  const { output, show } = setUp({ columns: 30, rows: 10 });
  const printed: string[] = [];
  let last: Frame = { print: [], live: [], cursor: null };
  await show(last);
  for (const next of operations) {
    if (next.type === "resize") {
      await output.resize(next);
      continue;
    }
    const print = next.print.map((some): Line => {
      const named: Line = { spans: [{ text: text(`P${printed.length}:`) }, ...some] };
      printed.push(plainText(named));
      return named;
    });
    last = { ...next, print };
    await show(last);
  }
  const rows = output.rows();
  const shown = expected(last, output.size());
  const bottom = rows.findLastIndex((row) => row !== "") + 1;
  const top = Math.max(bottom - shown.findLastIndex((row) => row !== "") - 1, 0);
  if (shown.some((row) => row !== "")) {
    assert.equal(bottom - top, shown.length);
    // Where this terminal may take more columns than the standard says, the end of a row is cut.
    const cut = (row: string, at: number) =>
      greatestWidth(shown[at]!) < output.size().columns ? row : row.slice(0, 2);
    assert.deepEqual(rows.slice(top, bottom).map(cut), shown.map(cut));
  }
  if (last.cursor && last.live.length > 0 && shown.at(-1) !== "") {
    const row = output.cursor.row - top;
    const wanted = clipped(
      plainText(last.live[Math.min(last.cursor.row, last.live.length - 1)]!),
      output.size().columns - 1,
    );
    assert.equal(cutTo(rows[output.cursor.row]!, 2), cutTo(wanted, 2));
    if (isSimple(wanted)) assert.equal(output.cursor.column, Math.min(last.cursor.column, output.size().columns - 1));
    assert.ok(row >= 0);
  }
  const above = output.linesBefore(top);
  assert.deepEqual(
    above.filter((row) => row.startsWith("P")),
    printed,
  );
  return { above, printed };
}

test("after any frames the terminal shows the last one, and above it each printed line once, and nothing else", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(drawn(letters), { maxLength: 25, size: "max" }), async (operations) => {
      const { above, printed } = await replay(operations);
      assert.deepEqual(above, printed);
    }),
    { numRuns: RUNS },
  );
});

test("after any frames and resizes the terminal shows the last frame, and has each printed line once", async () => {
  const operation = fc.oneof({ weight: 3, arbitrary: drawn(unjoined) }, { weight: 1, arbitrary: resize });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 25, size: "max" }), async (operations) => {
      await replay(operations);
    }),
    { numRuns: RUNS },
  );
});
