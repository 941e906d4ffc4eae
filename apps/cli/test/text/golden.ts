import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const folder = join(import.meta.dirname, "golden");

export const goldenSource = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Compares with a file, or with GOLDEN=write makes it: read it before you commit it. */
export function assertGolden(name: string, lines: string[]): void {
  const actual = `${lines.join("\n")}\n`;
  if (process.env["GOLDEN"] === "write") writeFileSync(join(folder, name), actual);
  assert.equal(actual, goldenSource(name));
}
