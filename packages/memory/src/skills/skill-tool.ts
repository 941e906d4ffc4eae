import { defineTool, type Tool, type ToolContext } from "@cinch/core";
import { readBelow } from "../sources/host-folder.ts";
import type { LoadableSkill, SkillLibrary, SkillReach } from "./skill-library.ts";

/** Of the instructions that a call returns, and of another file. Longer results would be offloaded. */
const MAX_CHARS = 60_000;
/** How many names an error lists. */
const NAMES = 50;

interface SkillInput {
  name: string;
  args?: string;
  file?: string;
}

const input = {
  type: "object",
  properties: {
    name: { type: "string", description: "The name of the skill" },
    args: { type: "string", description: "What the skill should be applied to" },
    file: { type: "string", description: "Read this other file of the skill, by its path in the skill's folder" },
  },
  required: ["name"],
  additionalProperties: false,
} as const;

export const skillTool = (library: SkillLibrary): Tool =>
  defineTool({
    description:
      "Loads a skill: its instructions are the result. Follow them. Its other files are read with read_file, or with file if the result says so.",
    category: "control",
    effect: "pure",
    input,
    async execute(given, context) {
      const { name, args, file } = given as SkillInput;
      const reach = reachOf(context);
      const loadable = await library.load(name, reach);
      if (!loadable) return { content: await unknown(name, library, reach), isError: true };
      if (file !== undefined) return otherFile(loadable, file);
      const { skill, folder } = loadable;
      const instructions = textOf(loadable);
      context.loadSkill({
        name: skill.name,
        path: `${folder}/SKILL.md`,
        instructions,
        allowedTools: skill.allowedTools,
      });
      return args === undefined || args === "" ? instructions : `${instructions}\n\nArguments: ${args}`;
    },
  });

const reachOf = ({ workspace, threadId, resourceId, files, pathRules, signal }: ToolContext): SkillReach => ({
  resourceId,
  files: workspace?.reader?.({ threadId, files, pathRules, signal }),
  isTrusted: workspace?.trusted ?? false,
});

async function unknown(name: string, library: SkillLibrary, reach: SkillReach): Promise<string> {
  const { skills, problems } = await library.list(reach);
  const broken = problems.filter((problem) => problem.includes(`/${name}/SKILL.md:`));
  if (broken.length > 0) return `The skill "${name}" can't be used:\n${broken.join("\n")}`;
  const names = [...skills.keys()].toSorted();
  const more = names.length > NAMES ? `, and ${names.length - NAMES} more` : "";
  const known = names.length === 0 ? "There are none." : `The skills are: ${names.slice(0, NAMES).join(", ")}${more}.`;
  return `There is no skill "${name}". ${known}`;
}

/** What the model gets: where the skill is, what it may use, and the instructions. */
function textOf({ skill, folder, isHost }: LoadableSkill): string {
  const files = isHost
    ? "Paths in it are relative to that folder, which the file tools and commands do not reach: read its files with the argument file of this tool."
    : "Paths in it are relative to that folder: read its files with read_file.";
  const { allowedTools, compatibility } = skill;
  const tools = [...new Set(allowedTools?.map(({ toolName, match }) => (match ? `${toolName} (${match})` : toolName)))];
  const lines = [
    `Skill "${skill.name}", in ${folder}. ${files}`,
    ...(compatibility === undefined ? [] : [`It needs: ${compatibility}`]),
    ...(allowedTools
      ? [`Until this turn ends, calls of other tools than these ask the user: ${tools.join(", ")}.`]
      : []),
  ];
  return `${lines.join("\n")}\n\n${cut(skill.instructions, `${folder}/SKILL.md`)}`;
}

async function otherFile({ folder, isHost, skill }: LoadableSkill, file: string) {
  if (!isHost)
    return {
      content: `The files of "${skill.name}" are in the workspace: read ${folder}/${file} with read_file.`,
      isError: true,
    };
  const found = await readBelow(folder, file, MAX_CHARS * 4);
  if (!found)
    return { content: `There is no file "${file}" in the folder of the skill "${skill.name}".`, isError: true };
  return found.text.includes("\0") ? { content: `"${file}" is not text.`, isError: true } : cut(found.text, file);
}

function cut(text: string, path: string): string {
  if (text.length <= MAX_CHARS) return text;
  return `${text.slice(0, MAX_CHARS).toWellFormed()}\n(${text.length - MAX_CHARS} more characters are in ${path}.)`;
}
