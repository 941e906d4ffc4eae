import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mutants } from "../scripts/mutants/index.ts";
import { occurrences } from "../scripts/mutants/mutant.ts";

const root = join(import.meta.dirname, "..");

test("every mutant still applies, and its tests exist", () => {
  const problems = mutants.flatMap((mutant) => {
    const times = occurrences(readFileSync(join(root, mutant.file), "utf8"), mutant);
    const missing = mutant.tests.filter((file) => !existsSync(join(root, file)));
    const applies = times === 1 ? [] : [`found ${times} times in ${mutant.file}: ${mutant.find}`];
    return [...applies, ...missing.map((file) => `${mutant.attacks}: there is no ${file}`)];
  });
  assert.deepEqual(problems, []);
});

test("there are at least two hundred different mutants", () => {
  const changes = new Set(mutants.map(({ file, find, replace }) => JSON.stringify([file, find, replace])));
  assert.deepEqual([changes.size, mutants.length >= 200], [mutants.length, true]);
});
