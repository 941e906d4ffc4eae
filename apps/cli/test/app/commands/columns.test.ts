import assert from "node:assert/strict";
import { test } from "node:test";
import { columnLines } from "../../../src/app/commands/columns.ts";
import { plainText } from "../../text/shown.ts";

const shown = (rows: string[][], width: number): string[] =>
  columnLines(rows, { width, now: 0, unicode: true }).map(plainText);

test("columns are aligned, and the last cell is wrapped below itself", () => {
  const rows = [
    ["/new", "start a new thread"],
    ["/mode 中", "change it"],
  ];
  assert.deepEqual(shown(rows, 26), ["  /new      start a new", "            thread", "  /mode 中  change it"]);
});

test("a cell that is too wide has a row of its own, and widens no column", () => {
  const rows = [
    ["/permissions [allow|ask|deny]", "rules"],
    ["/new", "start"],
  ];
  assert.deepEqual(shown(rows, 40), ["  /permissions [allow|ask|deny]  ", "        rules", "  /new  start"]);
});

test("without a limit nothing is wrapped", () => {
  assert.deepEqual(shown([["a".repeat(50), "word ".repeat(50).trim()]], Infinity), [
    `  ${"a".repeat(50)}  ${"word ".repeat(50).trim()}`,
  ]);
  assert.deepEqual(shown([], 80), []);
});
