/**
 * npm run fingerprint            writes the fingerprint of the folds
 * npm run check:fingerprint      fails if it is out of date
 *
 * Folds are saved with their thread, and code that folds differently must not use them. So the fingerprint is a hash of every source
 * file that can change the result of a fold: the folds, and all that they import.
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
const updated = written.replace(/(FOLDS_FINGERPRINT = ")[^"]*"/, `$1${fingerprint}"`);

if (written === updated) console.log(`fingerprint: up to date, of ${files.size} files`);
else if (process.argv.includes("--check")) {
  console.error("The folds have changed, so saved folds must not be used any more. Run: npm run fingerprint");
  process.exit(1);
} else {
  writeFileSync(TARGET, updated);
  console.log(`fingerprint: ${fingerprint}, of ${files.size} files`);
}

/** Adds the file and everything of ours that it imports, except for types. */
function add(file: string): void {
  if (files.has(file) || file === TARGET) return;
  files.add(file);
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(
    /^(?:import|export) (?!type )[^;]*? from "(\.[^"]+)"/gm,
  ))
    add(normalize(join(dirname(file), path)));
}
