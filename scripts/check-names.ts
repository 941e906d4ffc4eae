import { globSync, readFileSync } from "node:fs";
import process from "node:process";

/** Two files under src must not export the same name for different things. Names that are allowed to collide may only become fewer. */
const allowed: Record<string, number> = {
  Call: 2,
  Check: 2,
  Entry: 2,
  Failure: 2,
  Interrupt: 2,
  Outcome: 3,
  bytes: 2,
  deleting: 2,
  failureOf: 2,
  finish: 2,
  listing: 2,
  optionsOf: 2,
  reading: 2,
  threadNotFound: 2,
  torture: 2,
  wordsOf: 2,
};

const DECLARATION =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(?:interface|type|class|const|let|enum|function\*?) +(\w+)/gm;

const filesOf = new Map<string, Set<string>>();
for (const file of globSync("{packages,apps}/*/src/**/*.{ts,tsx}")) {
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(DECLARATION))
    filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file));
}

const problems: string[] = [];
for (const [name, files] of filesOf) {
  const most = allowed[name] ?? 1;
  if (files.size > most) problems.push(`${name} is exported by ${[...files].join(" and ")}: rename one of them`);
}
for (const [name, most] of Object.entries(allowed)) {
  const count = filesOf.get(name)?.size ?? 0;
  if (count < most)
    problems.push(`${name}: ${count} files export it now, lower or remove its limit in scripts/check-names.ts`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
const left = Object.keys(allowed).length;
console.log(`names: ${filesOf.size} exported names, ${left} of them still with more than one meaning`);
