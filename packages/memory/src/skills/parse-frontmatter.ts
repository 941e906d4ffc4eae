import { entryList, entryText, frontmatterOf, type SkillProblem } from "./frontmatter.ts";
import { BadFrontmatter } from "./yaml-line.ts";

export interface ParsedFrontmatter {
  /** By key: a text, or the texts of a list. */
  values: Record<string, string | string[]>;
  /** The line of each key, from 1. */
  lines: Record<string, number>;
  /** The text after the frontmatter. */
  body: string;
}

/** Reads a Markdown file that begins with frontmatter, in the part of YAML that a SKILL.md may use. */
export function parseFrontmatter(text: string): ParsedFrontmatter | { problem: SkillProblem } {
  try {
    const { entries, body } = frontmatterOf(text);
    return {
      values: Object.fromEntries(entries.map((entry) => [entry.key, entryList(entry) ?? entryText(entry)])),
      lines: Object.fromEntries(entries.map(({ key, line }) => [key, line])),
      body,
    };
  } catch (error) {
    if (!(error instanceof BadFrontmatter)) throw error;
    return { problem: { line: error.line, message: error.message } };
  }
}
