import { globSync, readFileSync } from "node:fs";
import process from "node:process";

/** Two files under src must not export the same name for different things. Names that are allowed to collide may only become fewer. */
const allowed: Record<string, number> = {};

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
  if (count < most) problems.push(`${name}: ${count} files export it now, lower its limit in scripts/check-names.ts`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`names: each of ${filesOf.size} exported names is declared in one file`);
