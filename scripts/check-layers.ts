import { globSync, readFileSync } from "node:fs";
import process from "node:process";

/** Which of our packages each package may import, and whether it may import modules of Node. */
const layers: Record<string, { imports: string[]; node: boolean }> = {
  "packages/core": { imports: [], node: false },
  "packages/sqlite": { imports: ["@cinch/core"], node: true },
  "packages/postgres": { imports: ["@cinch/core"], node: true },
  "packages/restate": { imports: ["@cinch/core"], node: true },
  "packages/workspace": { imports: ["@cinch/core"], node: true },
  "packages/memory": { imports: ["@cinch/core"], node: true },
  "packages/server": { imports: ["@cinch/core"], node: true },
  "packages/client": { imports: ["@cinch/core"], node: false },
  "packages/testkit": { imports: ["@cinch/core", "@cinch/sqlite", "@cinch/workspace"], node: true },
  "apps/web": { imports: ["@cinch/client", "@cinch/core"], node: true },
  "apps/cli": {
    imports: [
      "@cinch/core",
      "@cinch/memory",
      "@cinch/server",
      "@cinch/sqlite",
      "@cinch/testkit",
      "@cinch/web",
      "@cinch/workspace",
    ],
    node: true,
  },
};

const SPECIFIER = /(?:from|import)\s*\(?\s*"([^"]+)"/g;
const problems: string[] = [];
/** `@cinch/core/store` is an entry point of `@cinch/core`. */
const packageOf = (specifier: string): string => specifier.split("/").slice(0, 2).join("/");

for (const [folder, { imports, node }] of Object.entries(layers)) {
  for (const file of globSync(`${folder}/src/**/*.{ts,tsx}`)) {
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(SPECIFIER)) {
      if (specifier.startsWith("node:") && !node) problems.push(`${file}: ${folder} may not import ${specifier}`);
      if (specifier.startsWith("@cinch/") && !imports.includes(packageOf(specifier)))
        problems.push(`${file}: ${folder} may not import ${specifier}`);
      if (/^(\.\.\/)+(packages|apps)\//.test(specifier))
        problems.push(`${file}: import ${specifier} by the name of its package`);
    }
  }
}
for (const folder of [...globSync("packages/*"), ...globSync("apps/*")]) {
  if (!layers[folder]) problems.push(`${folder}: add it to scripts/check-layers.ts, with what it may import`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log("layers: every import points down");
