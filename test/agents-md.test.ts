import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

/** AGENTS.md leads a newcomer to files and functions. A name that has moved would lead to nothing. */
const root = join(import.meta.dirname, "..");
const text = readFileSync(join(root, "AGENTS.md"), "utf8");
/** A row of a table, or an item of a list with its further lines. */
const entries = text.split(/\n(?=\||- |\d+\. )|\n\n/).map((entry) => entry.replaceAll("\n", " "));
const quoted = (entry: string): string[] => Array.from(entry.matchAll(/`([^`]+)`/g), ([, name = ""]) => name);

/** A folder and those above it, the nearest first. */
const foldersOf = (path: string): string[] => (path === "." || path === "" ? [] : [path, ...foldersOf(dirname(path))]);

test("every file and folder that AGENTS.md names exists", () => {
  const missing = entries.flatMap((entry) => {
    let last = "";
    return quoted(entry)
      .filter((name) => /^[\w.-]+\/[\w./-]*$|^[\w.-]+\.(ts|tsx|md|json)$/.test(name) && !name.startsWith("@"))
      .filter((name) => {
        const path = ["", ...foldersOf(last)]
          .map((base) => join(base, name))
          .find((one) => existsSync(join(root, one)));
        if (path !== undefined) last = name.endsWith("/") ? path : dirname(path);
        return path === undefined;
      })
      .map((name) => `${name}, in: ${entry.slice(0, 80)}`);
  });
  assert.deepEqual(missing, []);
});

test("every function and type that AGENTS.md names is in a source file", () => {
  const files = globSync(["packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}", "packages/*/test/*.ts"], {
    cwd: root,
  });
  const words = new Set(files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/#?\w+/g) ?? []));
  const names = entries.flatMap(quoted).filter((name) => /^#?[A-Za-z_]+(\(\))?$/.test(name));
  assert.deepEqual(
    names.filter((name) => !words.has(name.replace("()", ""))),
    [],
  );
});

test("every link within AGENTS.md leads to one of its headings", () => {
  const anchors = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  const links = Array.from(text.matchAll(/\]\(#([^)]*)\)/g), ([, anchor = ""]) => anchor);
  assert.ok(links.length > 5);
  assert.deepEqual(
    links.filter((link) => !anchors.includes(link)),
    [],
  );
});
