import { didYouMean, type Rule, type ToolCategory } from "@cinch/core";
import type { Line } from "../../terminal/line.ts";
import { BUILT_IN_TOOLS } from "../../setup/agents/coding-agent.ts";
import { patternProblem } from "../../setup/pattern-problem.ts";
import { line } from "../../terminal/line.ts";
import { short } from "../../terminal/sanitise.ts";
import type { AppCommand, CommandContext } from "./command.ts";
import { present } from "./present.ts";
import { headingLine, columnLines } from "./columns.ts";

const POLICIES = ["allow", "ask", "deny"] as const;
const CATEGORIES: readonly ToolCategory[] = ["read", "edit", "execute", "mcp", "other", "control"];
const USAGE = "/permissions allow|ask|deny TOOL [PATTERN], or category CATEGORY in place of the tool";

export const permissionsCommand: AppCommand = {
  name: "permissions",
  description: "show the rules in force, or set one for this thread",
  argument: "[allow|ask|deny TOOL [PATTERN]]",
  async run(argument, context) {
    if (argument.trim() === "") return showRules(context);
    const given = await givenRule(argument.trim(), context);
    if ("problem" in given) return context.say(given.problem);
    await setRule(given.rule, context);
  },
};

async function setRule(rule: Rule, context: CommandContext): Promise<void> {
  const { session } = context;
  const { toolName, category, match, policy } = rule;
  const before = session.getPermissionRules();
  if (category !== undefined) await session.setPermissionForCategory({ category, policy });
  else await session.setPermissionForTool({ toolName: toolName!, policy, ...(match === undefined ? {} : { match }) });
  const isDenied = policy !== "deny" && before.some((one) => one.policy === "deny" && isSameTool(one, rule));
  const denied = isDenied ? " What another rule denies stays denied: see /permissions." : "";
  context.say(`In this thread, ${targetOf(rule)}: ${policy}.${denied}`);
}

const isSameTool = (one: Rule, other: Rule): boolean =>
  one.toolName === other.toolName && one.category === other.category;

/** `allow execute npm test *`, `deny category edit` */
async function givenRule(argument: string, context: CommandContext): Promise<{ rule: Rule } | { problem: string }> {
  const [word = "", ...rest] = argument.split(/\s+/);
  const policy = POLICIES.find((known) => known === word);
  if (!policy) return { problem: `"${word}" is no policy. ${USAGE}` };
  const [name = "", ...others] = rest;
  if (name === "") return { problem: `For which tool? ${USAGE}` };
  if (name === "category") return categoryRule(policy, others.join(" "));
  const tools = await knownTools(context);
  if (!tools.includes(name)) {
    if (CATEGORIES.some((known) => known === name)) return categoryRule(policy, [name, ...others].join(" "));
    return { problem: `There is no tool or category "${name}": ${didYouMean(name, [...tools, ...CATEGORIES])}` };
  }
  const match = unquoted(argument.slice(argument.indexOf(name, word.length) + name.length).trim());
  const rule: Rule = { toolName: name, policy, ...(match === "" ? {} : { match }) };
  const problem = patternProblem(rule);
  return problem === undefined ? { rule } : { problem };
}

function categoryRule(policy: Rule["policy"], name: string): { rule: Rule } | { problem: string } {
  const category = CATEGORIES.find((known) => known === name);
  if (category) return { rule: { category, policy } };
  return { problem: `There is no category "${name}": ${didYouMean(name, CATEGORIES)} A category takes no pattern.` };
}

const unquoted = (pattern: string): string => /^(['"])(.*)\1$/.exec(pattern)?.[2] ?? pattern;

async function knownTools({ project, session }: CommandContext): Promise<string[]> {
  const modes = await session.listModes();
  const own = modes.flatMap(({ agent }) => Object.keys(agent.tools));
  return [...new Set([...Object.keys(project.workspace.tools), ...BUILT_IN_TOOLS, ...own])];
}

async function showRules(context: CommandContext): Promise<void> {
  const { project, session } = context;
  const screen = context.screen();
  const section = (title: string, rows: readonly string[][]): Line[] =>
    rows.length === 0 ? [] : [headingLine(title), ...columnLines(rows, screen)];
  const { ruleSources, paths } = project.config;
  const lines = [
    ...(context.display().yolo
      ? [line("YOLO is on: nothing asks, what is denied stays denied.", { color: "red" })]
      : []),
    ...ruleSources.flatMap(({ from, rules }) => section(`Rules of ${from}`, rules.map(ruleRow))),
    ...section(
      "Paths",
      paths.map((rule) => [rule.mode, rule.operations.join(", "), rule.paths.join(", ")]),
    ),
    ...section("Rules of this thread", (await threadRules(context)).map(ruleRow)),
    ...section("Granted in this thread, by your answers", session.getSessionGrants().map(ruleRow)),
    line("Without a rule, reading is allowed and everything else asks. What any rule denies stays denied.", {
      dim: true,
    }),
    line("Set one for this thread: /permissions allow execute npm test *", { dim: true }),
    line("Revoke a grant: /permissions ask, with the same tool and pattern.", { dim: true }),
  ];
  await present(context, { title: "Permissions", lines });
}

const ruleRow = (rule: Rule): string[] => [rule.policy, targetOf(rule)];

const targetOf = ({ toolName, category, match }: Rule): string => {
  const target = toolName ?? `every tool of the category ${category}`;
  return match === undefined ? target : `${target} ${short(match, 200)}`;
};

/** Those of the configuration and of the agent stand before them. */
async function threadRules({ project, session }: CommandContext): Promise<Rule[]> {
  const mode = (await session.listModes()).find(({ id }) => id === session.getCurrentModeId());
  return session.getPermissionRules().slice(project.rules.length + (mode?.agent.rules.length ?? 0));
}
