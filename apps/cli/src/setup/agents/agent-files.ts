import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { didYouMean } from "@cinch/core";
import { parseFrontmatter, type ParsedFrontmatter } from "@cinch/memory";
import { messageOf } from "../../error-message.ts";
import { readSmallFile } from "../small-file.ts";

/** A subagent, as a Markdown file describes it. */
export interface AgentFile {
  file: string;
  name: string;
  description: string;
  instructions: string;
  model?: string;
  availableTools?: readonly string[];
  maxSteps?: number;
}

const FIELDS = ["name", "description", "model", "tools", "maxSteps"];

/** The subagents of all folders. Of two with one name, that of the later folder counts. A file that can't be used is a note. */
export function readAgentFiles(folders: readonly string[]): { agents: AgentFile[]; notes: string[] } {
  const agents = new Map<string, AgentFile>();
  const notes: string[] = [];
  for (const file of folders.flatMap(markdownIn)) {
    try {
      const { agent, warnings } = agentOf(file, readSmallFile(file) ?? "");
      agents.set(agent.name, agent);
      notes.push(...warnings);
    } catch (error) {
      notes.push(`${messageOf(error)} The agent is not used.`);
    }
  }
  return { agents: [...agents.values()], notes };
}

function markdownIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
    return names.toSorted().map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Throws an error that names the file and the line. */
function agentOf(file: string, text: string): { agent: AgentFile; warnings: string[] } {
  const parsed = parseFrontmatter(text);
  if ("problem" in parsed) throw new Error(`${file}:${parsed.problem.line}: ${parsed.problem.message}`);
  const { values, lines, body } = parsed;
  const wrong = (key: string, problem: string) => new Error(`${file}:${lines[key] ?? 1}: ${problem}`);
  const textOf = (key: string): string | undefined => {
    const value = values[key];
    if (Array.isArray(value)) throw wrong(key, `"${key}" must be a text, not a list.`);
    return value?.trim() || undefined;
  };
  const name = textOf("name") ?? basename(file, ".md");
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
    throw wrong("name", `The name "${name}" may hold small letters, digits and single hyphens only.`);
  const description = textOf("description");
  if (description === undefined)
    throw wrong("description", 'The description is missing. Add "description: …": when should this agent be used?');
  if (body === "") throw wrong("name", "There are no instructions. Write them below the frontmatter.");
  const [model, steps, tools] = [textOf("model"), textOf("maxSteps"), toolsOf(parsed)];
  if (steps !== undefined && !/^[1-9]\d{0,5}$/.test(steps))
    throw wrong("maxSteps", `"maxSteps" must be a whole number from 1, not "${steps}".`);
  const unknown = Object.keys(values).filter((key) => !FIELDS.includes(key));
  return {
    agent: {
      file,
      name,
      description,
      instructions: body,
      ...(model === undefined ? {} : { model }),
      ...(tools === undefined ? {} : { availableTools: tools }),
      ...(steps === undefined ? {} : { maxSteps: Number(steps) }),
    },
    warnings: unknown.map((key) => `${file}:${lines[key]}: "${key}" is ignored: ${didYouMean(key, FIELDS)}`),
  };
}

/** A list, or a text with commas or spaces. */
function toolsOf({ values: { tools } }: ParsedFrontmatter): string[] | undefined {
  if (tools === undefined) return undefined;
  return [tools].flat().flatMap((names) => names.split(/[\s,]+/).filter((name) => name !== ""));
}
