import type { AppCommand } from "./command.ts";

const PROMPT = `Write AGENTS.md in the root of this project: what an agent must know to work here that it can't see at once.

First look: README and other documents, the manifest and lock files, the scripts, the configuration of linters, formatters and CI, and a few typical source and test files. If there is an AGENTS.md or CLAUDE.md already, improve it: keep what is right, correct what is wrong, remove what says nothing. Take over what .cursor/rules, .cursorrules or .github/copilot-instructions.md say, if they are there.

Then write it, in about a page:
- the commands to install, build, check and test, and how to run one single test; run those that are quick and harmless to be sure that they work
- how the code is organised: which folder has what, and where a change of each usual kind begins
- conventions that are kept here and that a newcomer would get wrong, with an example of each
- what must not be touched, and what is easily broken

Only what you have seen in the files; no general advice, no list of every file. Say in the end what you could not find out.`;

export const initCommand: AppCommand = {
  name: "init",
  description: "let the agent write AGENTS.md for this project",
  async run(_argument, context) {
    const { session, project } = context;
    if (context.display().turnId !== null)
      return context.say("A turn is not finished yet. Let it end, or stop it with Esc; then /init.");
    const mode = (await session.listModes()).find(({ id }) => id === session.getCurrentModeId());
    if (mode?.availableTools && !mode.availableTools.includes("write_file"))
      return context.say(`In the mode ${mode.id}, the agent writes no files. Change it first: /mode build`);
    if (!project.trusted)
      context.say("This folder is not trusted, so its AGENTS.md is not read until you trust it at the next start.");
    await session.post({ content: PROMPT, delivery: "send" });
  },
};
