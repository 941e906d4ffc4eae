import { join } from "node:path";
import { hostFolder, skills } from "@cinch/memory";
import { PROJECT_SKILL_FOLDERS, userSkillFolders } from "../../setup/skill-folders.ts";
import { line, type Line } from "../../terminal/line.ts";
import type { AppCommand, CommandContext } from "./command.ts";
import { present } from "./present.ts";
import { headingLine } from "./columns.ts";

export const skillsCommand: AppCommand = {
  name: "skills",
  description: "list the skills, and what is wrong with broken ones",
  async run(_argument, context) {
    const { listed, problems } = await readSkills(context);
    if (listed.length + problems.length === 0) return context.say(`There are no skills. ${whereText(context)}`);
    const lines: Line[] = [
      ...listed.map((row) => line(row)),
      ...(problems.length > 0 ? [headingLine("Problems")] : []),
      ...problems.map((problem) => line(problem, { color: "yellow" })),
      line(whereText(context), { dim: true }),
    ];
    await present(context, { title: "Skills", lines });
  },
};

/** The list as the model gets it. */
async function readSkills({ project, session }: CommandContext): Promise<{ listed: string[]; problems: string[] }> {
  const { folder, env, trusted, config } = project;
  const folders = [...userSkillFolders(env, config), ...(trusted ? ofProject(folder) : [])];
  const source = skills(folders.map((path) => hostFolder(path)));
  const read = await source.read({
    threadId: session.getCurrentThreadId() ?? "",
    resourceId: session.resourceId,
    files: undefined,
    known: undefined,
    isTrusted: trusted,
    paths: [],
    signal: new AbortController().signal,
  });
  const listed = (read?.text ?? "").split("\n").filter((row) => row.startsWith("- "));
  return { listed, problems: [...(read?.problems ?? [])] };
}

const ofProject = (folder: string): string[] => PROJECT_SKILL_FOLDERS.map((path) => join(folder, path));

function whereText({ project: { env, config, trusted } }: CommandContext): string {
  const [own = ""] = userSkillFolders(env, config);
  const ofFolder = trusted
    ? " or .cinch/skills"
    : ". The skills of this folder are not read, because it is not trusted";
  return `A skill is a folder with a SKILL.md, in ${own}${ofFolder}.`;
}
