import { AgentList, type SubagentCatalog } from "./agent.ts";
import { listedIn } from "./check-agent.ts";
import { didYouMean, nearest } from "./nearest.ts";
import type { Rule } from "../permissions/rule.ts";
import type { SetupConfig } from "../turn/setup.ts";
import type { HarnessMode } from "./modes.ts";

/**
 * A message for each name in rules, `interruptOn` and `availableTools` that is the name of no tool. A rule for a misspelt name does
 * nothing, and a list that contains one allows fewer tools than intended. These are warnings, not errors: the tool may be added later.
 */
export function unknownTools(config: SetupConfig, toolsOf: (mode: HarnessMode) => Iterable<string>): string[] {
  const { modes, subagent, permissions, interruptOn } = config;
  const inTrees = modes.map((mode) => inTree(toolsOf(mode), config.delegation(mode.agent)?.catalog));
  const all = inTrees.reduce(both, noTools);
  const ofHarness = [
    ...unknownNames("permissions of the harness", toolNamesOf(permissions), all),
    ...unknownNames("interruptOn", Object.keys(interruptOn), all),
  ];
  const ofModes = modes.flatMap((mode, at) => {
    const agent = subagent?.fork?.agent ?? mode.agent;
    const own = inTree(toolsOf(mode), undefined);
    return [
      ...unknownNames(`permissions of agent "${agent.name}"`, toolNamesOf(agent.rules), inTrees[at]!),
      ...unknownNames(`availableTools of agent "${agent.name}"`, agent.availableTools ?? [], own),
      // The list of a mode binds its tree, and is that of the top-level thread's mode in a subagent.
      ...(subagent ? [] : unknownNames(`availableTools of mode "${mode.id}"`, mode.availableTools ?? [], inTrees[at]!)),
    ];
  });
  return [...(subagent ? [] : ofHarness), ...ofModes];
}

/** The names of tools. `isOpen`: there may be others, since the agents of a catalog are known only when they are resolved. */
interface Names {
  names: readonly string[];
  isOpen: boolean;
}

const noTools: Names = { names: [], isOpen: false };

const both = (a: Names, b: Names): Names => ({
  names: [...new Set([...a.names, ...b.names])],
  isOpen: a.isOpen || b.isOpen,
});

/** The tools of an agent and of those that it can delegate to. Only some agents have `submit_plan`, but it is never a misspelling. */
function inTree(own: Iterable<string>, catalog: SubagentCatalog | null | undefined): Names {
  const below = listedIn(catalog).map(({ tools, subagents }) => inTree(Object.keys(tools), subagents));
  const isOpen = catalog !== undefined && catalog !== null && !(catalog instanceof AgentList);
  return below.reduce(both, { names: [...new Set(["submit_plan", ...own])], isOpen });
}

const toolNamesOf = (rules: readonly Rule[]): string[] => rules.flatMap(({ toolName }) => toolName ?? []);

/** Whether an agent has these depends on its depth, but they are never misspellings. */
const DELEGATING: readonly string[] = ["task", "agent_status", "agent_await", "agent_cancel"];

/** Where there may be other tools, only a name that is similar to a known one is likely to be misspelt. */
function unknownNames(where: string, names: readonly string[], { names: known, isOpen }: Names): string[] {
  return names
    .filter((name) => !known.includes(name) && !DELEGATING.includes(name))
    .filter((name) => !isOpen || nearest(name, known) !== undefined)
    .map((name) => `Unknown tool "${name}" in ${where}: ${didYouMean(name, known)}`);
}
