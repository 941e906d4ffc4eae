import { globSync, readFileSync } from "node:fs";
import process from "node:process";

/** A longer file hides a second noun. The files in `allowed` may only shrink. */
const LIMIT = 400;
const allowed: Record<string, number> = {};

const problems: string[] = [];
for (const file of globSync("{packages,apps}/*/{src,test}/**/*.{ts,tsx}").concat(
  globSync("{scripts,test,bench,examples}/**/*.{ts,mjs}"),
)) {
  if (file.includes("node_modules")) continue;
  const lines = readFileSync(file, "utf8").split("\n").length - 1;
  const most = allowed[file] ?? LIMIT;
  if (lines > most) problems.push(`${file} has ${lines} lines, and at most ${most} are allowed: split it`);
  if (allowed[file] !== undefined && lines < most)
    problems.push(`${file} has only ${lines} lines now: lower its limit in scripts/check-size.ts`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`size: no file over ${LIMIT} lines`);
