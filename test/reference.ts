import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A row of a table of docs/reference.md. */
interface Row {
  /** Without its parameters. */
  name: string;
  /** The keys of each parameter that is written as an object, with a "?" for an optional one; `null` for any other parameter. */
  parameters: (string[] | null)[];
  /** The other cells. */
  cells: string[];
}

/** A table, and the type or function with which it is compared. */
export interface Section {
  packageName: string;
  heading: string;
  /** `keys` of a type, `options` of a function, `values` of a union. `events` and `exports` are compared at run time. */
  kind: "keys" | "options" | "values" | "events" | "exports";
  /** The type, or the function. */
  of: string;
  /** A type whose names are documented elsewhere. */
  besides: string | undefined;
  rows: Row[];
}

/** Parses the tables. Throws for an unknown kind of heading. */
export function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  let packageName = "";
  for (const line of text.split("\n")) {
    packageName = /^## `(.+)`$/.exec(line)?.[1] ?? packageName;
    const heading = /^### (.+)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ packageName, heading, ...targetOf(heading), rows: [] });
    const row = /^\| `([^`]+)` \|(.*)\|$/.exec(line);
    if (row) sections.at(-1)!.rows.push(rowOf(row[1]!, row[2]!));
  }
  return sections;
}

function targetOf(heading: string): Pick<Section, "kind" | "of" | "besides"> {
  if (heading === "Events") return { kind: "events", of: "", besides: undefined };
  if (heading === "Exports") return { kind: "exports", of: "", besides: undefined };
  const values = /^Values of `(\w+)`$/.exec(heading)?.[1];
  if (values) return { kind: "values", of: values, besides: undefined };
  const [, of, besides] = /^`(\w+)`(?: besides `(\w+)`)?$/.exec(heading) ?? [];
  if (!of)
    throw new Error(
      `docs/reference.md: "### ${heading}" is none of: \`Type\`, \`Type\` besides \`Other\`, \`function\`, Values of \`Type\`, Events, Exports.`,
    );
  return { kind: /^[a-z]/.test(of) ? "options" : "keys", of, besides };
}

function rowOf(code: string, rest: string): Row {
  const [, name = code, list = ""] = /^(\w+)\((.*)\)$/.exec(code) ?? [];
  const parameters = [...list.matchAll(/\{([^}]*)\}|\w+/g)].map(([, keys]) =>
    keys === undefined ? null : keys.split(",").map((key) => key.trim()),
  );
  return { name, parameters, cells: rest.split("|").map((cell) => cell.trim()) };
}

/** A line of a program that compiles only if the reference is correct. */
interface Check {
  /** What to change if the line does not compile. `NAMES` is replaced by the names in the error. */
  advice: string;
  line: string;
}

const HELPERS = `
type Keys<T> = T extends unknown ? keyof T : never;
type Optional<T> = T extends unknown ? { [K in keyof T]-?: {} extends Pick<T, K> ? K : never }[keyof T] : never;
type Parameter<F, At extends number> = NonNullable<Parameters<Extract<F, (...args: never) => unknown>>[At]>;
`;

/** The program, and the advice for each of its lines. */
export function programOf(sections: readonly Section[]): { text: string; advice: (string | undefined)[] } {
  const packages = [...new Set(sections.map(({ packageName }) => packageName))];
  const head = [...packages.map((one) => `import type * as ${aliasOf(one)} from "${one}";`), ...HELPERS.split("\n")];
  const checks = sections.flatMap(checksOf);
  const advice = [...head.map(() => undefined), ...checks.map((check) => check.advice)];
  return { text: [...head, ...checks.map(({ line }) => line)].join("\n"), advice };
}

const aliasOf = (packageName: string): string => packageName.replaceAll(/\W/g, "_");
const union = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(" | ") || "never";

function checksOf(section: Section): Check[] {
  const { packageName, heading, kind, of, besides, rows } = section;
  if (kind === "events" || kind === "exports") return [];
  const where = `${packageName}, "${heading}"`;
  const type = `${aliasOf(packageName)}.${of}`;
  const others =
    besides === undefined ? "never" : `keyof ${besides === "Error" ? "Error" : typeNamed(besides, packageName)}`;
  const names = {
    keys: `Exclude<keyof ${type}, ${others}>`,
    options: `Keys<Parameter<typeof ${type}, 0>>`,
    // The compiler can't list the values of a template; a test finds them in the sources.
    values: `Exclude<${type}, \`PROVIDER_\${string}\`>`,
  }[kind];
  const all = { keys: `keyof ${type}`, options: names, values: type }[kind];
  const documented = union(rows.map(({ name }) => name));
  return [
    ...compared({ where, what: "a row", code: names, all, documented }),
    ...(kind === "keys" ? rows.flatMap((row) => parameterChecks(where, type, row)) : []),
  ];
}

/** Other packages extend `CinchError` of core. */
const typeNamed = (name: string, packageName: string): string =>
  `${aliasOf(name === "CinchError" ? "@cinch/core" : packageName)}.${name}`;

function parameterChecks(where: string, type: string, { name, parameters }: Row): Check[] {
  return parameters.flatMap((keys, at) => {
    if (!keys) return [];
    const parameter = `Parameter<${type}["${name}"], ${at}>`;
    const plain = keys.map((key) => key.replace(/\?$/, ""));
    const optional = keys.filter((key) => key.endsWith("?")).map((key) => key.slice(0, -1));
    const call = `${where}, ${name}(…)`;
    return [
      ...compared({ where: call, what: "the option", code: `Keys<${parameter}>`, documented: union(plain) }),
      ...compared({ where: call, what: "a ? for", code: `Optional<${parameter}>`, documented: union(optional) }),
    ];
  });
}

interface Comparison {
  where: string;
  what: string;
  /** The names that must be documented. */
  code: string;
  /** The names that may be documented. */
  all?: string;
  documented: string;
}

let made = 0;

function compared({ where, what, code, all = code, documented }: Comparison): Check[] {
  const line = (type: string) => `export const c${++made}: never = null! as ${type};`;
  return [
    { advice: `${where}: add ${what} NAMES`, line: line(`Exclude<${code}, ${documented}>`) },
    {
      advice: `${where}: remove ${what} NAMES, which the code does not have`,
      line: line(`Exclude<${documented}, ${all}>`),
    },
  ];
}

/** The entry points of all packages, with their source files. */
export function entryPoints(): { name: string; source: string }[] {
  return globSync("{packages,apps}/*/package.json").flatMap((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(file, "utf8")) as PackageFile;
    return Object.entries(exports).map(([path, { "@cinch/source": source }]) => ({
      name: join(name, path),
      source: join(dirname(file), source),
    }));
  });
}

interface PackageFile {
  name: string;
  exports?: Record<string, { "@cinch/source": string }>;
}

interface Names {
  values: string[];
  types: string[];
}

/** The names that an entry point lists. Throws for `export *`: what a package exports is a decision for each name. */
export function exportsOf(source: string): Names {
  if (/^export (type )?\*/m.test(source))
    throw new Error("An entry point lists the names that it exports: no `export *`.");
  const names = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, allTypes, list = ""]) =>
    list
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean)
      .map((name) => ({ name: name.replace("type ", ""), isType: Boolean(allTypes) || name.startsWith("type ") })),
  );
  const sorted = (some: typeof names) => some.map(({ name }) => name).toSorted();
  return { values: sorted(names.filter((one) => !one.isType)), types: sorted(names.filter((one) => one.isType)) };
}

/** The table "Exports" of an entry point, and its line of types. */
export function documentedIn(text: string, name: string): Names {
  const part = text.split(/^## /m).find((one) => one.startsWith(`\`${name}\`\n`)) ?? "";
  const table = sectionsOf(`## ${part}`).find(({ kind }) => kind === "exports");
  const types = /^Types: (.*)$/m.exec(part)?.[1] ?? "";
  return {
    values: (table?.rows ?? []).map((row) => row.name).toSorted(),
    types: [...types.matchAll(/`(\w+)`/g)].map(([, type = ""]) => type).toSorted(),
  };
}
