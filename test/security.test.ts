import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const text = readFileSync(join(root, "SECURITY.md"), "utf8");

/** As a page's headings are linked to. */
const anchors = (page: string): string[] =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );

test("every link in SECURITY.md leads to a page, a heading or a test that is there", () => {
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
  assert.ok(links.length > 20);
  for (const link of links) {
    const [file = "", anchor] = link.split("#");
    assert.ok(existsSync(join(root, file)), link);
    if (anchor !== undefined) assert.ok(anchors(readFileSync(join(root, file), "utf8")).includes(anchor), link);
  }
});

test("each line of the table in SECURITY.md says what is promised, what is not, and what shows it", () => {
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| part"));
  assert.ok(rows.length >= 12);
  for (const row of rows) assert.equal(row.split(" | ").filter((cell) => cell.trim().length > 3).length, 4, row);
});
