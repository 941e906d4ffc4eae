import { inPackage, type Mutant } from "./mutant.ts";

const test = (name: string): string => `packages/workspace/test/path-rules/${name}.test.ts`;
const AGENTS = [test("agents")];
const COMMANDS = [test("agent-commands")];
const ATTACKS = [test("agent-attacks")];
const CLONES = [test("agent-clones")];

/** The path rules of agents. */
export const agentPaths: Mutant[] = [
  ...inPackage("packages/core", [
    {
      attacks: "path rules of agents: those of the top-level agent are not judged",
      file: "permissions/gate.ts",
      find: "...policyFinding(call, config.topPathRules),",
      replace: "...policyFinding(call, []),",
      tests: AGENTS,
    },
    {
      attacks: "path rules of agents: those of a subagent are not judged, so nothing asks",
      file: "permissions/gate.ts",
      find: "...restrictingFinding(call, list), ",
      replace: "",
      tests: AGENTS,
    },
    {
      attacks: "path rules of agents: the milder of workspace and agent counts",
      file: "permissions/gate.ts",
      find: "ORDER.indexOf(one) <= ORDER.indexOf(other)",
      replace: "ORDER.indexOf(one) >= ORDER.indexOf(other)",
      tests: AGENTS,
    },
    {
      attacks: "path rules of agents: a tool that can't keep them may run",
      file: "permissions/gate.ts",
      find: "...availabilityFinding(tool, pathRules),",
      replace: "",
      tests: COMMANDS,
    },
    {
      attacks: "agents: the model is shown tools that its agent may not use",
      file: "turn/setup.ts",
      find: "(agent.availableTools?.includes(tool.name) ?? true) &&",
      replace: "",
      tests: ["config/modes"],
    },
    {
      attacks: "path rules of agents: a tool that can't keep them is listed",
      file: "turn/setup.ts",
      find: "whyUnavailable(tool, pathRules) === undefined",
      replace: "whyUnavailable(tool, []) === undefined",
      tests: COMMANDS,
    },
    {
      attacks: "path rules of agents: those of the agents above are forgotten",
      file: "config/modes.ts",
      find: "const path = [...(subagent?.path ?? []), agent];",
      replace: "const path = [agent];",
      tests: AGENTS,
    },
    {
      attacks: "path rules of agents: a call runs without them",
      file: "turn/authorize.ts",
      find: "pathRules: pathRulesOf(setup.gate, policies),",
      replace: "pathRules: [],",
      tests: AGENTS,
    },
    {
      attacks: "path rules of agents: the agent of an entered mode does not bind a fork",
      file: "turn/setup.ts",
      find: "const isEntered = fork !== null && fork.of === null && agent !== top;",
      replace: "const isEntered = false as boolean;",
      tests: ATTACKS,
    },
    {
      attacks: "path rules of agents: a fork delegates past the agent of the mode that it entered",
      file: "tools/control/task.ts",
      find: "if (self && turn.modeId !== self.modeId)",
      replace: "if (self && turn.modeId === '')",
      tests: ATTACKS,
    },
    {
      attacks: "path rules of agents: a clone of a subagent's thread is without them",
      file: "commands/clone.ts",
      find: "...pathRulesField(policies.pathRules) };",
      replace: "};",
      tests: CLONES,
    },
    {
      attacks: "path rules of agents: a thread that is created at a subagent's is without them",
      file: "commands/create-thread.ts",
      find: "...pathRulesField(control.policies.pathRules) };",
      replace: "};",
      tests: CLONES,
    },
    {
      attacks: "path rules of agents: a rewind of such a clone drops them",
      file: "commands/rewind.ts",
      find: "...used, state, ...pathRulesField(pathRules) };",
      replace: "...used, state };",
      tests: CLONES,
    },
    {
      attacks: "path rules of agents: a rewind makes a fork a thread of the agent that it was cloned from",
      file: "folds/state.ts",
      find: "cutSeq: seq, agent: event.agent ?? null };",
      replace: "cutSeq: seq };",
      tests: CLONES,
    },
    {
      attacks: "path rules of agents: those of a thread are kept, but do not ask",
      file: "permissions/gate.ts",
      find: "...level.pathRules.map((list) => ({ list, findings: () => findingsOf(level.grants) })),",
      replace: "",
      tests: CLONES,
    },
  ]),
  ...inPackage("packages/workspace", [
    {
      attacks: "previews: a preview ignores the path rules of the agent",
      file: "tools/restricted-tools.ts",
      find: "toolFor(context.pathRules).preview?.(args, context)",
      replace: "tool.preview!(args, context)",
      tests: ["tools/change/previews"],
    },
    {
      attacks: "path rules of agents: the tools do not keep those of the call",
      file: "tools/restricted-tools.ts",
      find: "if (pathRules.length === 0) return unrestricted;",
      replace: "if (pathRules.length >= 0) return unrestricted;",
      tests: AGENTS,
    },
    {
      attacks: "path rules of agents: an approval for a folder covers what another list asks for in it",
      file: "path-rules/file-rules.ts",
      find: "asking(names).some((list) => !asked.has(list))",
      replace: "asked.size === 0 && asking(names).length > 0",
      tests: AGENTS,
    },
    {
      attacks: "path rules of agents: commands run without them",
      file: "shells/sandbox-shell.ts",
      find: "const all = [rules(), ...more];",
      replace: "const all = [rules()]; void more;",
      tests: COMMANDS,
    },
    {
      attacks: "path rules of agents: interpreted commands run without them",
      file: "virtual/virtual-shell.ts",
      find: ".reduce(narrower, bounds.rules)",
      replace: ".reduce((own) => own, bounds.rules)",
      tests: COMMANDS,
    },
    {
      attacks: "path rules of agents: another tool runs commands that can't keep them",
      file: "tools/execute/execute.ts",
      find: "checkKept(host, context);",
      replace: "",
      tests: COMMANDS,
    },
    {
      attacks: "path rules of agents: a command that does not keep them is answered",
      file: "tools/execute/report.ts",
      find: "if (command.keeps(pathRules)) return command;",
      replace: "return command;",
      tests: COMMANDS,
    },
    {
      attacks: "path rules: what may not be read is deleted with its folder",
      file: "path-rules/rule-hooks.ts",
      find: 'denies("write") || denies("read")',
      replace: 'denies("write")',
      tests: ["backends/policy"],
    },
    {
      attacks: "path rules: the error about a folder names what may not be read",
      file: "backends/policy.ts",
      find: 'isHidden ? "something" : path',
      replace: "path",
      tests: ["backends/policy"],
    },
  ]),
];
