import { BadFrontmatter, indentOf, shortened, type YamlLine } from "./yaml-line.ts";

interface Place {
  key: string;
  line: number;
}

/** The text of a quoted or plain scalar. */
export function scalarOf(raw: string, { key, line }: Place): string {
  const bad = (message: string) => new BadFrontmatter(line, message);
  if (raw.startsWith('"')) {
    const [, quoted] = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.exec(raw) ?? [];
    if (quoted === undefined)
      throw bad(`The quotes of "${key}" do not close where it ends. Escape quotes inside as \\".`);
    return fromJson(quoted) ?? unescapable(key, line);
  }
  if (raw.startsWith("'")) {
    const [, quoted] = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(raw) ?? [];
    if (quoted === undefined) throw bad(`The quotes of "${key}" do not close where it ends. Write ' inside as ''.`);
    return quoted.replaceAll("''", "'");
  }
  const plain = withoutComment(raw);
  if (/^[[\]{}&*!%@`,|>]/.test(plain))
    throw bad(`"${key}" begins with "${plain[0]}", which means something else in YAML. Put the text in quotes.`);
  if (/:(?:\s|$)/.test(plain))
    throw bad(
      `"${shortened(plain)}" of "${key}" holds a colon, which begins a new key in YAML. Put the text in quotes.`,
    );
  return plain === "~" || plain === "null" ? "" : plain;
}

/** In linear time, whatever the text is. */
function withoutComment(raw: string): string {
  const at = raw.startsWith("#") ? 0 : raw.search(/\s#/);
  return at < 0 ? raw : raw.slice(0, at).trimEnd();
}

function unescapable(key: string, line: number): never {
  throw new BadFrontmatter(
    line,
    `"${key}" holds a backslash that means nothing. Write \\\\ for one, or use single quotes.`,
  );
}

function fromJson(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted.replaceAll("\t", "\\t")) as string;
  } catch {
    return undefined;
  }
}

/** A block text, after `|` (lines are kept) or `>` (lines are joined). */
export function foldedText({ key, line, inline }: Place & { inline: string }, block: readonly YamlLine[]): string {
  const [, style, keep] = /^([|>])([+-]?)\s*(?:#.*)?$/.exec(inline) ?? [];
  if (style === undefined)
    throw new BadFrontmatter(line, `After "${key}: ${inline[0]}" the text must begin on the next line, indented.`);
  const indents = block.filter(({ text }) => text.trim() !== "").map(indentOf);
  const indent = indents[0] ?? 0;
  const shallow = block.find((one) => one.text.trim() !== "" && indentOf(one) < indent);
  if (shallow)
    throw new BadFrontmatter(shallow.line, `This line of "${key}" is indented less than the first. Indent it alike.`);
  const lines = block.map(({ text }) => text.slice(indent).trimEnd());
  const joined =
    style === "|"
      ? lines.join("\n")
      : lines
          .join("\n")
          .replaceAll(/(?<=\S)\n(?=\S)/g, " ")
          .replaceAll(/\n\n/g, "\n");
  return keep === "+" ? joined : joined.trimEnd();
}
