/**
 * npm run fingerprint            writes the fingerprint of the folds
 * npm run check:fingerprint      fails if it is out of date
 *
 * Folded state is cached with the thread, and code that folds differently must not use it. So the fingerprint is a hash of every source
 * file that can change what an event folds into: the folds, and all that they import.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import process from "node:process";

const FOLDS = "packages/core/src/folds";
const TARGET = `${FOLDS}/fingerprint.ts`;

const files = new Set<string>();
for (const file of globSync(`${FOLDS}/*.ts`)) add(file);

const hash = createHash("sha256");
for (const file of [...files].toSorted()) hash.update(`${file}\n${readFileSync(file, "utf8")}\n`);
const fingerprint = hash.digest("hex").slice(0, 16);
const written = readFileSync(TARGET, "utf8");
const today = written.replace(/(FOLDS_FINGERPRINT = ")[^"]*"/, `$1${fingerprint}"`);

if (written === today) console.log(`fingerprint: of ${files.size} files, up to date`);
else if (process.argv.includes("--check")) {
  console.error("The folds have changed, and what was folded before must not be used: npm run fingerprint");
  process.exit(1);
} else {
  writeFileSync(TARGET, today);
  console.log(`fingerprint: ${fingerprint}, of ${files.size} files`);
}

/** With everything that it imports from here, but for types. */
function add(file: string): void {
  if (files.has(file) || file === TARGET) return;
  files.add(file);
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(
    /^(?:import|export) (?!type )[^;]*? from "(\.[^"]+)"/gm,
  ))
    add(normalize(join(dirname(file), path)));
}
