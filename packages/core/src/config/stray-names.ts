import { didYouMean } from "./nearest.ts";
import type { Rule } from "../permissions/rule.ts";
import { toolsOf, type SetupConfig } from "../turn/setup.ts";

/**
 * What a configuration says about tools that no agent has, in words. A rule for a misspelt name does nothing, and a list with one lets
 * less be used than was meant. It is no mistake for certain: a tool may come later.
 */
export function strayNames(config: SetupConfig): string[] {
  // Only agents with a use for plans have this one, and yet it is spelt right.
  const named = config.modes.map((mode) => ({
    mode,
    names: [...new Set(["submit_plan", ...toolsOf(mode, config).keys()])],
  }));
  const all = [...new Set(named.flatMap(({ names }) => names))];
  const ofHarness = [
    ...stray("permissions of the harness", ruled(config.permissions), all),
    ...stray("interruptOn", Object.keys(config.interruptOn), all),
  ];
  const ofModes = named.flatMap(({ mode: { id, agent, availableTools }, names }) => [
    ...stray(`permissions of agent "${agent.name}"`, ruled(agent.permissions), names),
    ...stray(`availableTools of agent "${agent.name}"`, agent.availableTools ?? [], names),
    ...stray(`availableTools of mode "${id}"`, availableTools ?? [], names),
  ]);
  // Modes may share an agent.
  return [...new Set([...ofHarness, ...ofModes])];
}

const ruled = (rules: readonly Rule[]): string[] => rules.flatMap(({ toolName }) => toolName ?? []);

const stray = (where: string, names: readonly string[], known: readonly string[]): string[] =>
  names
    .filter((name) => !known.includes(name))
    .map((name) => `Unknown tool "${name}" in ${where}: ${didYouMean(name, known)}`);
