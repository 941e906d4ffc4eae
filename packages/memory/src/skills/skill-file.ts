import type { AllowedTool } from "@cinch/core";
import { parseAllowedTools } from "./allowed-tools.ts";
import {
  frontmatterOf,
  entryList,
  entryMap,
  entryText,
  type Frontmatter,
  type SkillProblem,
  type YamlEntry,
} from "./frontmatter.ts";
import { BadFrontmatter } from "./yaml-line.ts";

/** A skill, as its SKILL.md describes it. */
export interface AgentSkill {
  name: string;
  description: string;
  license?: string;
  compatibility?: string;
  metadata: Record<string, string>;
  /** Left out: the skill restricts nothing. */
  allowedTools?: AllowedTool[];
  /** The Markdown after the frontmatter. */
  instructions: string;
}

export interface ParsedSkill {
  /** `null`: it can't be used. `problems` say why. */
  skill: AgentSkill | null;
  problems: SkillProblem[];
  /** What is ignored in a skill that can be used. */
  warnings: SkillProblem[];
}

const LIMITS = { name: 64, description: 1_024, compatibility: 500 };
const FIELDS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/** Reads a SKILL.md. `folder`: the name of the folder that it is in. */
export function parseSkill(text: string, { folder }: { folder: string }): ParsedSkill {
  try {
    return checkedSkill(frontmatterOf(text), { folder, text });
  } catch (error) {
    if (!(error instanceof BadFrontmatter)) throw error;
    return { skill: null, problems: [{ line: error.line, message: error.message }], warnings: [] };
  }
}

function checkedSkill({ entries, body }: Frontmatter, { folder, text }: { folder: string; text: string }): ParsedSkill {
  const problems: SkillProblem[] = brokenLines(text);
  const warnings = entries
    .filter(({ key }) => !FIELDS.includes(key))
    .map(({ key, line }) => ({ line, message: unknownField(key) }));
  const field = (key: string): YamlEntry | undefined => entries.find((entry) => entry.key === key);
  /** What `read` gives, or the problem that it throws. */
  const value = <T>(key: string, read: (entry: YamlEntry) => T): T | undefined => {
    const entry = field(key);
    if (!entry) return undefined;
    try {
      return read(entry);
    } catch (error) {
      if (!(error instanceof BadFrontmatter)) throw error;
      problems.push({ line: error.line, message: error.message });
      return undefined;
    }
  };
  const check = (key: string, message: string | null): void => {
    if (message !== null) problems.push({ line: field(key)?.line ?? 1, message });
  };
  const name = value("name", entryText)?.normalize("NFKC");
  const description = value("description", entryText);
  const license = value("license", entryText);
  const compatibility = value("compatibility", entryText);
  const metadata = value("metadata", entryMap) ?? {};
  if (name !== undefined || !field("name")) check("name", wrongName(name, folder));
  if (description !== undefined || !field("description")) check("description", wrongDescription(description));
  if (compatibility !== undefined) check("compatibility", wrongLength("compatibility", compatibility));
  const tools = value("allowed-tools", (entry) => parseAllowedTools(entryList(entry) ?? [entryText(entry)]));
  if (tools) check("allowed-tools", tools.problem && `allowed-tools: ${tools.problem}`);
  for (const message of tools?.warnings ?? [])
    warnings.push({ line: field("allowed-tools")?.line ?? 1, message: `allowed-tools: ${message}` });
  problems.sort((a, b) => a.line - b.line);
  if (problems.length > 0 || name === undefined || description === undefined)
    return { skill: null, problems, warnings };
  const skill: AgentSkill = {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    metadata,
    ...(tools ? { allowedTools: tools.allowed } : {}),
    instructions: body,
  };
  return { skill, problems, warnings };
}

const unknownField = (key: string): string =>
  `"${key}" is not a field of the standard, and is ignored. Put values of your own below "metadata".`;

function wrongName(name: string | undefined, folder: string): string | null {
  if (name === undefined) return `The name is missing. Add "name: ${folder}".`;
  if (name === "") return `The name is empty. Write "name: ${folder}".`;
  const tooLong = wrongLength("name", name);
  if (tooLong !== null) return tooLong;
  if (name !== name.toLowerCase()) return `The name "${name}" has capital letters. Use small ones.`;
  if (!/^[\p{Ll}\p{Lm}\p{Lo}\p{N}-]+$/u.test(name))
    return `The name "${name}" may hold small letters, digits and hyphens only.`;
  if (name.startsWith("-") || name.endsWith("-")) return `The name "${name}" must not begin or end with a hyphen.`;
  if (name.includes("--")) return `The name "${name}" has two hyphens in a row. Use one.`;
  if (name !== folder.normalize("NFKC"))
    return `The name is "${name}", but the folder is "${folder}". Give both the same name.`;
  return null;
}

function wrongDescription(description: string | undefined): string | null {
  const advice = "Say what the skill does and when to use it.";
  if (description === undefined) return `The description is missing. Add "description: …". ${advice}`;
  if (description.trim() === "") return `The description is empty. ${advice}`;
  return wrongLength("description", description);
}

function wrongLength(field: keyof typeof LIMITS, text: string): string | null {
  const [most, length] = [LIMITS[field], [...text].length];
  if (field === "compatibility" && text.trim() === "")
    return "The compatibility is empty. Say what the skill needs, or remove the field.";
  return length > most ? `The ${field} has ${length} characters, at most ${most} are allowed. Shorten it.` : null;
}

// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const BROKEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]/;

/** Lines that are not plain text. */
function brokenLines(text: string): SkillProblem[] {
  const at = text.split("\n").findIndex((line) => BROKEN.test(line));
  if (at < 0) return [];
  return [
    {
      line: at + 1,
      message: "This line is not text: it has control characters, or is not UTF-8. Save the file as UTF-8.",
    },
  ];
}
