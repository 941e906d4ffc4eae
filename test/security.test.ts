import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const text = readFileSync(join(root, "SECURITY.md"), "utf8");

test("each row of the table in SECURITY.md has a promise, its limits, and its documents or tests", () => {
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| part"));
  assert.ok(rows.length >= 12);
  for (const row of rows) assert.equal(row.split(" | ").filter((cell) => cell.trim().length > 3).length, 4, row);
});
