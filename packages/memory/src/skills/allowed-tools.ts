import type { AllowedTool } from "@cinch/core";
import { shortened } from "./yaml-line.ts";

/** The names that other agents use for tools, and ours. */
const STANDARD: Readonly<Record<string, readonly string[]>> = {
  Bash: ["execute"],
  Read: ["read_file"],
  Write: ["write_file"],
  Edit: ["edit_file"],
  MultiEdit: ["edit_file"],
  LS: ["ls"],
  Glob: ["glob"],
  Grep: ["grep"],
  Task: ["task"],
  TodoWrite: ["write_todos"],
  AskUserQuestion: ["ask_user"],
  Skill: ["skill"],
};

/** With them, a command in the background is followed. They take no patterns. */
const FOLLOWING = ["execute_output", "execute_input", "execute_stop"];

interface ParsedTools {
  allowed: AllowedTool[];
  /** What is ignored, and why. */
  warnings: string[];
  /** The field can't be understood. */
  problem: string | null;
}

const MAX_TOOLS = 100;
/** Of a tool with its pattern. */
const MAX_CHARS = 500;

/** The tools that `allowed-tools` names: separated by spaces or commas, each maybe with a pattern, such as `Bash(git:*)`. */
export function parseAllowedTools(items: readonly string[]): ParsedTools {
  const allowed: AllowedTool[] = [];
  const warnings: string[] = [];
  const words = new Set(items.flatMap(wordsOf));
  if (words.size > MAX_TOOLS) return unusable(`${words.size} tools are listed, at most ${MAX_TOOLS} are allowed.`);
  for (const item of words) {
    const [, name, pattern] = /^([\p{L}_][\p{L}\p{N}_.:/-]*)(?:\((.*)\))?$/u.exec(item) ?? [];
    if (name === undefined || (pattern === undefined) !== !item.includes("("))
      return unusable(`"${shortened(item)}" is not a tool, such as Read or Bash(git:*).`);
    if (item.length > MAX_CHARS)
      return unusable(`"${shortened(item)}" has ${item.length} characters, at most ${MAX_CHARS} are allowed.`);
    const ours = Object.hasOwn(STANDARD, name) ? STANDARD[name]! : isOurs(name) ? [name] : null;
    if (!ours) warnings.push(`"${shortened(name)}" is not a tool that Cinch knows. It is ignored.`);
    else allowed.push(...ours.map((toolName) => ({ toolName, ...matchOf(toolName, pattern) })));
    if (ours?.includes("execute")) allowed.push(...FOLLOWING.map((toolName) => ({ toolName })));
  }
  return { allowed, warnings, problem: null };
}

const unusable = (problem: string): ParsedTools => ({ allowed: [], warnings: [], problem });

/** Tools of Cinch, of its users and of MCP servers. The names of other agents' tools begin with a capital. */
const isOurs = (name: string): boolean => !/^\p{Lu}/u.test(name);

/** A space in parentheses separates nothing. */
const wordsOf = (text: string): string[] => text.match(/(?:\([^)]*\)?|[^\s,(])+/g) ?? [];

function matchOf(toolName: string, pattern: string | undefined): { match?: string } {
  if (pattern === undefined || pattern === "" || pattern === "*" || pattern === ":*") return {};
  // "git:*" means git and any further words.
  if (toolName === "execute") return { match: pattern.replace(/:\*$/, " *") };
  return { match: pattern.startsWith("/") || pattern.startsWith("**/") ? pattern : `/${pattern.replace(/^\.\//, "")}` };
}
