import { BadFrontmatter, indentOf, shortened, type YamlLine } from "./yaml-line.ts";
import { foldedText, scalarOf } from "./yaml-scalar.ts";

/** A place in a SKILL.md that is wrong, and what to do. */
export interface SkillProblem {
  /** From 1. */
  line: number;
  message: string;
}

/** `key: inline`, and the lines below it that belong to it. */
export interface YamlEntry {
  key: string;
  line: number;
  inline: string;
  block: readonly YamlLine[];
}

export interface Frontmatter {
  entries: readonly YamlEntry[];
  /** The text after the frontmatter. */
  body: string;
}

/**
 * The part of YAML that the standard's frontmatter uses: `key: value`, quoted and block texts, one level of keys below a key, and lists of
 * texts. Throws `BadFrontmatter` for anything else, because another reader of the file might understand it differently.
 */
export function frontmatterOf(text: string): Frontmatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n/);
  if (!isFence(lines[0]))
    throw new BadFrontmatter(1, 'The file must begin with a line "---", then name and description.');
  const end = lines.findIndex((line, at) => at > 0 && isFence(line));
  if (end < 0) throw new BadFrontmatter(lines.length, 'The frontmatter does not end. Add a line "---" after it.');
  const inside = lines.slice(1, end).map((content, at) => ({ line: at + 2, text: content }));
  return {
    entries: entriesOf(inside, 0),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

const isFence = (line: string | undefined): boolean => line !== undefined && /^---\s*$/.test(line);

const isEmpty = ({ text }: YamlLine): boolean => /^\s*(?:#.*)?$/.test(text);

/** The entries whose keys have this indentation. */
function entriesOf(lines: readonly YamlLine[], indent: number): YamlEntry[] {
  const entries: (YamlEntry & { block: YamlLine[] })[] = [];
  for (const one of lines) {
    const last = entries.at(-1);
    if (isEmpty(one)) {
      // A line that looks like a comment is one, unless it is inside a block text.
      if (one.text.trim() === "" || indentOf(one) > indent) last?.block.push(one);
      continue;
    }
    if (/^ *\t/.test(one.text)) throw new BadFrontmatter(one.line, "A tab indents this line. Use spaces.");
    const isBelow = indentOf(one) > indent || (indentOf(one) === indent && /^\s*-(?:\s|$)/.test(one.text));
    if (isBelow && last) last.block.push(one);
    else entries.push({ ...keyOf(one, indent), block: [] });
  }
  const known = new Set<string>();
  for (const { key, line } of entries) {
    if (known.has(key)) throw new BadFrontmatter(line, `"${key}" is here twice. Keep one of them.`);
    known.add(key);
  }
  return entries;
}

const MAX_KEY = 100;

function keyOf(one: YamlLine, indent: number): Omit<YamlEntry, "block"> {
  const { line } = one;
  const text = one.text.trim();
  if (indentOf(one) !== indent)
    throw new BadFrontmatter(
      line,
      "This line is indented differently from the others. Indent keys of one level alike.",
    );
  const [, key = "", colon, inline = ""] = /^([A-Za-z0-9_.-]+)\s*(:?)(.*)$/.exec(text) ?? [];
  if (key === "" || colon === "")
    throw new BadFrontmatter(
      line,
      `"${shortened(text)}" is not "key: value". Write it so, or indent it below its key.`,
    );
  if (key.length > MAX_KEY)
    throw new BadFrontmatter(line, `The key "${shortened(key)}" has more than ${MAX_KEY} characters. Shorten it.`);
  if (inline !== "" && !/^\s/.test(inline))
    throw new BadFrontmatter(line, `There is no space after the colon of "${key}". Write "${key}: …".`);
  return { key, line, inline: inline.trim() };
}

/** The text of an entry. An entry without one is "". */
export function entryText({ key, line, inline, block }: YamlEntry): string {
  if (/^[|>]/.test(inline)) return foldedText({ key, line, inline }, block);
  const more = block.filter((one) => !isEmpty(one));
  const listed = more.find(({ text }) => /^\s*(?:-\s|[A-Za-z0-9_-]+:\s)/.test(text));
  if (listed && inline === "")
    throw new BadFrontmatter(listed.line, `"${key}" must be a text. Write it after "${key}:".`);
  return scalarOf([inline, ...more.map(({ text }) => text.trim())].filter((text) => text !== "").join(" "), {
    key,
    line,
  });
}

/** The texts below an entry, by key. */
export function entryMap({ key, line, inline, block }: YamlEntry): Record<string, string> {
  if (inline !== "" && !inline.startsWith("#"))
    throw new BadFrontmatter(line, `"${key}" must have keys of its own. Write each on a line below it, indented.`);
  const lines = block.filter((one) => !isEmpty(one));
  const [first] = lines;
  if (!first) return {};
  if (/^\s*-\s/.test(first.text))
    throw new BadFrontmatter(first.line, `"${key}" must have keys of its own, not a list. Write "  key: value".`);
  return Object.fromEntries(entriesOf(block, indentOf(first)).map((entry) => [entry.key, entryText(entry)]));
}

/** A comma in parentheses separates nothing. */
const FLOW_ITEM = /(?:\([^)]*\)?|[^,(])+/g;

/** The texts of a list, or `null` if the entry is a text. */
export function entryList({ key, line, inline, block }: YamlEntry): string[] | null {
  const flow = /^\[(.*)\]\s*(?:#.*)?$/.exec(inline);
  if (flow) return ((flow[1] ?? "").match(FLOW_ITEM) ?? []).map((item) => scalarOf(item.trim(), { key, line }));
  const items = block.filter((one) => !isEmpty(one));
  if (inline !== "" || !items.some(({ text }) => /^\s*-(?:\s|$)/.test(text))) return null;
  return items.map((one) => {
    const [, item] = /^\s*-\s+(.*)$/.exec(one.text) ?? [];
    if (item === undefined) throw new BadFrontmatter(one.line, `An item of "${key}" must be "- text" on one line.`);
    return scalarOf(item.trim(), { key, line: one.line });
  });
}
