import { inPackage, type Mutant } from "./mutant.ts";

/** What the terminal app shows of texts, and what a user types. */
export const terminalText: Mutant[] = inPackage("apps/cli", [
  {
    attacks: "Markdown: what is printed depends on how the text was cut",
    file: "text/markdown.ts",
    find: "    this.#partial += delta.slice(start);\n    return lines;",
    replace:
      '    this.#partial += delta.slice(start);\n    if (this.#partial.endsWith(".")) lines.push(...this.end());\n    return lines;',
    tests: ["text/markdown"],
  },
  {
    attacks: "Markdown: a block over the limit is lost",
    file: "text/blocks.ts",
    find: 'return [{ kind: "text", source: added.join("\\n") }];',
    replace: "return [];",
    tests: ["text/hostile-markdown"],
  },
  {
    attacks: "Markdown: hostile blocks are given to the lexer",
    file: "text/markdown-lines.ts",
    find: "if (wordWork(source) > MAX_WORD_WORK) return true;",
    replace: "",
    tests: ["text/hostile-markdown"],
  },
  {
    attacks: "code: a line is highlighted without those before it",
    file: "text/highlight.ts",
    find: "if (neutral || tooMuch) this.#forget();",
    replace: "if (neutral || !tooMuch) this.#forget();",
    tests: ["text/highlight"],
  },
  {
    attacks: "code: a name that is no language loads another file",
    file: "text/highlight.ts",
    find: "if (!/^[a-z][a-z0-9-]*$/.test(name)) return undefined;",
    replace: "",
    tests: ["text/highlight"],
  },
  {
    attacks: "wrapping: the white space at a break is lost",
    file: "text/wrap.ts",
    find: "rows.push({ spans: slice(start, end), gap, tooLong: columns > width });\n      start",
    replace: 'rows.push({ spans: slice(start, end), gap: " ", tooLong: columns > width });\n      start',
    tests: ["text/wrap"],
  },
  {
    attacks: "composer: kills in a row are separate entries",
    file: "composer/editor.ts",
    find: 'last.kind === "killed" ? [joined, ...older]',
    replace: 'last.kind === "typed" ? [joined, ...older]',
    tests: ["composer/editor"],
  },
  {
    attacks: "composer: the cursor enters the label of a paste",
    file: "composer/boundaries.ts",
    find: "if (at <= offset && offset < end) return { start: at, end };",
    replace: "",
    tests: ["composer/editor"],
  },
  {
    attacks: "composer: a walk through the history loses what was typed",
    file: "composer/history-walk.ts",
    find: "const kept = { ...texts, [index]: text };",
    replace: "const kept: Record<number, string> = { ...texts };",
    tests: ["composer/history"],
  },
  {
    attacks: "composer: others can read the history",
    file: "composer/private-file.ts",
    find: "export const PRIVATE_FILE = 0o600;",
    replace: "export const PRIVATE_FILE = 0o644;",
    tests: ["composer/history"],
  },
  {
    attacks: "composer: one process removes the unsent text of another",
    file: "composer/unsent.ts",
    find: "if (this.#read() === this.#saved) rmSync(",
    replace: "rmSync(",
    tests: ["composer/unsent"],
  },
  {
    attacks: "composer: an older copy of the unsent text replaces a newer one",
    file: "composer/private-file.ts",
    find: "      rmSync(temporary, { force: true });\n    },\n  };",
    replace: "    },\n  };",
    tests: ["composer/unsent"],
  },
  {
    attacks: "composer: keys wait for the disk while the unsent text is saved",
    file: "composer/unsent.ts",
    find: 'if (contents === "") return this.flush();',
    replace: "return this.flush();",
    tests: ["composer/unsent"],
  },
  {
    attacks: "composer: the type of an image is that of its name",
    file: "composer/attachments.ts",
    find: "const mediaType = imageType(data);",
    replace: 'const mediaType = filename?.endsWith(".jpg") ? "image/jpeg" : imageType(data);',
    tests: ["composer/attachments"],
  },
]);
