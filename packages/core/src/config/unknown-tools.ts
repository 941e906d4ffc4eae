import { didYouMean } from "./nearest.ts";
import { extraToolNames } from "./profiles.ts";
import type { Rule } from "../permissions/rule.ts";
import { toolsOf, type SetupConfig } from "../turn/setup.ts";

/**
 * A message for each name in rules, `interruptOn` and `availableTools` that is the name of no tool. A rule for a misspelt name does
 * nothing, and a list that contains one allows fewer tools than intended. These are warnings, not errors: the tool may be added later.
 */
export function unknownTools(config: SetupConfig): string[] {
  // Only some agents have `submit_plan`, but its name is never a misspelling.
  const named = config.modes.map((mode) => ({
    mode,
    names: [
      ...new Set(["submit_plan", ...toolsOf(mode, config).keys(), ...mode.agent.subagentTools, ...extraToolNames()]),
    ],
  }));
  const all = [...new Set(named.flatMap(({ names }) => names))];
  const ofHarness = [
    ...unknownNames("permissions of the harness", toolNamesOf(config.permissions), all),
    ...unknownNames("interruptOn", Object.keys(config.interruptOn), all),
  ];
  const ofModes = named.flatMap(({ mode: { id, agent, availableTools }, names }) => [
    ...unknownNames(`permissions of agent "${agent.name}"`, toolNamesOf(agent.permissions), names),
    ...unknownNames(`availableTools of agent "${agent.name}"`, agent.availableTools ?? [], names),
    ...unknownNames(`availableTools of mode "${id}"`, availableTools ?? [], names),
  ]);
  // Modes that share an agent give the same messages.
  return [...new Set([...ofHarness, ...ofModes])];
}

const toolNamesOf = (rules: readonly Rule[]): string[] => rules.flatMap(({ toolName }) => toolName ?? []);

const unknownNames = (where: string, names: readonly string[], known: readonly string[]): string[] =>
  names
    .filter((name) => !known.includes(name))
    .map((name) => `Unknown tool "${name}" in ${where}: ${didYouMean(name, known)}`);
