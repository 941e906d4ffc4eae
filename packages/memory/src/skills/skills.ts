import { CinchError, type ContextSource } from "@cinch/core";
import { HostFolder } from "../sources/host-folder.ts";
import { hashed, KnownLists, type ListChange } from "../sources/known-lists.ts";
import { SkillLibrary, type ListedSkill, type SkillSource } from "./skill-library.ts";
import { skillTool } from "./skill-tool.ts";

/** Of the whole list in the prompt, in characters. */
const LIST_CHARS = 80_000;
/** How short descriptions become if there are very many. */
const LEAST_CHARS = 40;

const INTRODUCTION =
  "Skills are instructions for certain tasks. When a task fits the description of one, load it with the tool skill before you begin.";

/**
 * Skills of the Agent Skills standard: folders with a SKILL.md. Their names and descriptions are in the prompt, and the tool `skill` loads
 * one. Of two skills with one name, that of the later source counts. Without `sources`, the skills of a trusted workspace are used.
 */
export function skills(sources?: readonly SkillSource[]): ContextSource {
  if (sources !== undefined && !Array.isArray(sources))
    throw new CinchError("INVALID_CONFIG", 'skills takes a list of folders, such as ["/.cinch/skills"].');
  const library = new SkillLibrary(sources?.map(checkedSource));
  const lists = new KnownLists();
  return {
    name: "skills",
    kind: "skills",
    tools: { skill: skillTool(library) },
    async read(reach) {
      const { skills: found, problems, unlisted, unknown } = await library.list(reach);
      const all = [...found.values()];
      const items = new Map(all.map(({ name, hash, path }) => [name, hashed(hash + path)]));
      const change = lists.change(reach.known, items);
      const version = lists.add(
        items,
        all.map(({ path }) => path),
      );
      // Skills that can't be listed now are not gone: the list in the prompt stands.
      const missed = unknown.filter(({ path }) => lists.mayHave(reach.known, path)).map(({ problem }) => problem);
      const reasons = reach.known === undefined ? [] : [...unlisted, ...missed];
      if (reasons.length > 0) throw new CinchError("INVALID_INPUT", reasons.join("\n"));
      if (found.size === 0) return { text: "", problems };
      const text = `${INTRODUCTION}\n<skills>\n${listed(all)}\n</skills>`;
      return { text, version, ...(change ? { change: changeText(change, found) } : {}), problems };
    },
  };
}

function checkedSource(source: SkillSource): SkillSource {
  if (source instanceof HostFolder) return source;
  const isPath = typeof source === "string" && source.startsWith("/") && !/(?:^|\/)\.\.?(?:\/|$)/.test(source);
  if (isPath) return source.replace(/\/+$/, "");
  throw new CinchError(
    "INVALID_CONFIG",
    `skills: ${JSON.stringify(source)} is not a folder of the workspace, such as "/.cinch/skills". For another folder of the machine, use hostFolder().`,
  );
}

/** One line for each skill. Descriptions are shortened if the list would be too long. */
function listed(all: readonly ListedSkill[]): string {
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const share = Math.max(LEAST_CHARS, Math.floor(LIST_CHARS / sorted.length) - 80);
  const whole = sorted.map((skill) => lineOf(skill, Infinity));
  const isLong = lengthOf(whole) > LIST_CHARS;
  const lines = isLong ? sorted.map((skill) => lineOf(skill, share)) : whole;
  let room = LIST_CHARS;
  const fitting = lines.filter((line) => (room -= line.length + 1) >= 0);
  const missing = lines.length - fitting.length;
  if (missing > 0) fitting.push(`(${missing} more are not listed, because the list is too long.)`);
  return fitting.join("\n");
}

const lengthOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);

function lineOf({ name, description, path }: ListedSkill, chars: number): string {
  const flat = description.replaceAll(/\s+/g, " ").replaceAll("<", "&lt;");
  const short = flat.length > chars ? `${flat.slice(0, chars).toWellFormed()}…` : flat;
  return `- ${name}: ${short} (${path})`;
}

function changeText({ added, changed, removed }: ListChange, found: ReadonlyMap<string, ListedSkill>): string {
  const lines = (names: readonly string[]) => names.flatMap((name) => found.get(name) ?? []);
  return [
    ...section("These skills are new:", listed(lines(added))),
    ...section("These skills have changed. Load one again before you use it:", listed(lines(changed))),
    ...section("These skills are gone:", removed.map((name) => `- ${name}`).join("\n")),
  ].join("\n\n");
}

const section = (title: string, text: string): string[] => (text === "" ? [] : [`${title}\n${text}`]);
