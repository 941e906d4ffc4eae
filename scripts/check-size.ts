import { globSync, readFileSync } from "node:fs";
import process from "node:process";

/** Files that are longer than this hide a second noun. Those that were allowed to be may only shrink. */
const LIMIT = 400;
const allowed: Record<string, number> = {};

const problems: string[] = [];
for (const file of globSync("{packages,apps}/*/{src,test}/**/*.{ts,tsx}").concat(
  globSync("{scripts,test,bench,examples}/**/*.{ts,mjs}"),
)) {
  if (file.includes("node_modules")) continue;
  const lines = readFileSync(file, "utf8").split("\n").length - 1;
  const most = allowed[file] ?? LIMIT;
  if (lines > most) problems.push(`${file}: ${lines} lines, at most ${most}`);
  if (allowed[file] !== undefined && lines < most)
    problems.push(`${file}: ${lines} lines now, lower its limit in scripts/check-size.ts`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`size: no file over ${LIMIT} lines`);
