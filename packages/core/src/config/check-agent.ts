import { CinchError, reasonOf } from "../errors.ts";
import type { Workspace } from "../ports/workspace.ts";
import { AgentList, type Agent, type SubagentCatalog } from "./agent.ts";

/** Throws `INVALID_CONFIG` for an agent whose path rules no workspace keeps. */
export function checkAgent({ name, pathRules }: Agent, workspace: Workspace | undefined): void {
  if (pathRules.length === 0) return;
  const invalid = (problem: string, cause?: unknown) =>
    new CinchError("INVALID_CONFIG", `Agent "${name}" has path rules in its permissions${problem}`, cause);
  if (!workspace)
    throw invalid(
      ", and the harness has no workspace. Give it one, such as localWorkspace({ root }), or remove the rules.",
    );
  if (!workspace.checkPathRules)
    throw invalid(", and its workspace can't keep them: it lacks checkPathRules. Remove the rules.");
  try {
    workspace.checkPathRules(pathRules);
  } catch (cause) {
    throw invalid(`. ${reasonOf(cause)}`, cause);
  }
}

/** The agents of a list. Those of another catalog are not known. */
export const listedIn = (catalog: SubagentCatalog | null | undefined): readonly Agent[] =>
  catalog instanceof AgentList ? catalog.all : [];

/** The listed agents and their listed subagents. */
export const knownAgents = (catalog: SubagentCatalog | null | undefined): readonly Agent[] =>
  listedIn(catalog).flatMap((agent) => [agent, ...knownAgents(agent.subagents)]);
