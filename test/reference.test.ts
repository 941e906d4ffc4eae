import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { eventMap } from "@cinch/core/journal";
import * as z from "zod/mini";
import { compile, declaredPackages } from "./declared-packages.ts";
import { documentedIn, entryPoints, exportsOf, programOf, sectionsOf, type Section } from "./reference.ts";

/** Compares docs/reference.md with the types, the event map and the exports. Failures say what to change. */
const root = join(import.meta.dirname, "..");
const text = readFileSync(join(root, "docs/reference.md"), "utf8");
const sections = sectionsOf(text);

/** For each reference, the advice for each line of its program that does not compile. The compiler checks all programs in one run. */
async function differences<T extends string>(references: Record<T, readonly Section[]>): Promise<Record<T, string[]>> {
  const folder = mkdtempSync(join(await declaredPackages(), "reference-"));
  try {
    const programs = Object.entries<readonly Section[]>(references).map(([name, all]) => {
      const { text: program, advice } = programOf(all);
      writeFileSync(join(folder, `${name}.ts`), program);
      return { name, advice };
    });
    const output = await compile(join(folder, "tsconfig.json"), {
      extends: join(root, "tsconfig.json"),
      compilerOptions: { customConditions: [], typeRoots: [join(root, "node_modules/@types")] },
      include: ["*.ts"],
    });
    const errors = [...output.matchAll(/^(\S+)\((\d+),\d+\): error TS\d+: (.*)$/gm)];
    const found = programs.map(({ name, advice }) => {
      // An error that is in none of the programs concerns every reference.
      const isForeign = (file: string) =>
        programs.some((other) => other.name !== name && file.endsWith(`/${other.name}.ts`));
      const own = errors.filter(([, file = ""]) => !isForeign(file));
      const lines = own.map(([, file, line, message = ""]) => {
        const [, names] = /^Type '(.*)' is not assignable to type 'never'\.$/.exec(message) ?? [];
        const about = file?.endsWith(`/${name}.ts`) ? advice[Number(line) - 1] : undefined;
        return names && about ? about.replace("NAMES", sorted(names)) : `${file}(${line}): ${message}`;
      });
      return [name, lines];
    });
    return Object.fromEntries(found) as Record<T, string[]>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const sorted = (names: string): string => names.replaceAll('"', "`").split(" | ").toSorted().join(" | ");

const sectionOf = (heading: string, packageName = "@cinch/core"): Section => {
  const found = sections.find((one) => one.heading === heading && one.packageName === packageName);
  assert.ok(found, `docs/reference.md has no "### ${heading}" under ${packageName}`);
  return found;
};

describe("the reference", { concurrency: false }, () => {
  const wrong = text
    .replace(/^\| `onAsk` .*\n/m, "")
    .replace("`editInput({ inputId, content })`", "`editInput({ inputId?, text })`")
    .replace("| `complete` |", "| `completed` |");
  let found = { current: [""], wrong: [""] };
  before(async () => (found = await differences({ current: sections, wrong: sectionsOf(wrong) })));

  test("the reference has exactly the options, methods, parameters, fields and values of the types", () => {
    assert.deepEqual(found.current, []);
  });

  test("a wrong reference is detected", () => {
    assert.deepEqual(found.wrong, [
      '@cinch/core, "`HarnessConfig`": add a row `onAsk`',
      '@cinch/core, "`Session`", editInput(…): add the option `content`',
      '@cinch/core, "`Session`", editInput(…): remove the option `text`, which the code does not have',
      '@cinch/core, "`Session`", editInput(…): remove a ? for `inputId`, which the code does not have',
      '@cinch/core, "Values of `EndReason`": add a row `complete`',
      '@cinch/core, "Values of `EndReason`": remove a row `completed`, which the code does not have',
    ]);
  });

  test("the reference has every event, with its fields and who may append it", () => {
    const documented = sectionOf("Events").rows.map(({ name, cells: [by, fields = ""] }) => {
      const listed = [...fields.matchAll(/`([^`]+)`/g)].map(([, field = ""]) => field);
      return [name, by, ...listed.toSorted()].join(" ");
    });
    const actual = Object.entries(eventMap).map(([type, { by, schema }]) => {
      const fields = Object.entries(schema.shape as Record<string, unknown>).map(([name, field]) =>
        field instanceof z.ZodMiniOptional ? `${name}?` : name,
      );
      return [type, by, ...fields.toSorted()].join(" ");
    });
    assert.deepEqual(documented.toSorted(), actual.toSorted());
  });

  test("the reference has every PROVIDER_ code", () => {
    const sources = globSync("packages/core/src/**/*.ts", { cwd: root }).map((file) =>
      readFileSync(join(root, file), "utf8"),
    );
    const thrown = sources.flatMap((source) =>
      [...source.matchAll(/"(PROVIDER_[A-Z_]+)"/g)].map(([, code = ""]) => code),
    );
    const documented = sectionOf("Values of `ErrorCode`").rows.flatMap(({ name }) =>
      name.startsWith("PROVIDER_") ? [name] : [],
    );
    assert.deepEqual(documented.toSorted(), [...new Set(thrown)].toSorted());
  });

  for (const { name, source } of entryPoints()) {
    test(`has everything that ${name} exports, also types`, async () => {
      const { values, types } = exportsOf(readFileSync(source, "utf8"));
      assert.deepEqual(values, Object.keys((await import(name)) as object).toSorted());
      assert.deepEqual(documentedIn(text, name), { values, types });
    });
  }

  test("the reference explains each entry in a sentence", () => {
    const silent = sections.flatMap(({ heading, rows }) =>
      rows.flatMap(({ name, cells }) => (/[.:]$/.test(cells.at(-1) ?? "") ? [] : [`${heading}: ${name}`])),
    );
    assert.deepEqual(silent, []);
    assert.deepEqual(
      sections.filter(({ rows }) => rows.length === 0).map(({ heading }) => heading),
      [],
    );
  });
});
