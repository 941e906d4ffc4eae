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

test("SECURITY.md says how to report a vulnerability: where, with what, and what counts as one", () => {
  const [, section = ""] = /^## Reporting a vulnerability\n([^]*?)^## /m.exec(text) ?? [];
  assert.match(section, /^Open a private security advisory on the project's repository\./m);
  assert.match(section, /the\s+smallest example you have, your system, and which sandbox was in force/);
  assert.match(section, /don't open a public issue\s+before there is a release with the fix/);
  assert.match(section, /A vulnerability is anything that breaks a line in the column \*promised\*/);
});

test("the page about permissions says plainly what patterns on commands catch, and that the sandbox is the wall", () => {
  const page = readFileSync(join(root, "docs/permissions.md"), "utf8").replaceAll(/\s+/g, " ");
  assert.match(page, /\[patterns\]\([^)]*\) catch mistakes and hurry, not intent: the sandbox is the wall/);
});
