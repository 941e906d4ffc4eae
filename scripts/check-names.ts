import { globSync, readFileSync } from "node:fs";
import process from "node:process";

/** Two files under src must not export the same name: one name has one meaning across all packages. */
const DECLARATION =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(?:interface|type|class|const|let|enum|function\*?) +(\w+)/gm;

const filesOf = new Map<string, Set<string>>();
for (const file of globSync("{packages,apps}/*/src/**/*.{ts,tsx}")) {
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(DECLARATION))
    filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file));
}

const problems: string[] = [];
for (const [name, files] of filesOf) {
  if (files.size > 1) problems.push(`${name} is exported by ${[...files].join(" and ")}: rename one of them`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`names: ${filesOf.size} exported names, each from one file`);
