import { join } from "node:path";
import { Agent, didYouMean } from "@cinch/core";
import { messageOf } from "../../error-message.ts";
import { chooseModel } from "../../models/choice.ts";
import type { Env } from "../../models/providers.ts";
import { readAgentFiles, type AgentFile } from "./agent-files.ts";
import { withSavedKeys } from "../key-files.ts";
import { expandedHome, userFolders } from "../user-folders.ts";

interface SubagentOptions {
  folder: string;
  env: Env;
  trusted: boolean;
  /** Further folders of the user. */
  folders: readonly string[];
  /** The names of all tools that agents can have. */
  tools: readonly string[];
}

/** The subagents of the user and, in a trusted folder, of the project. What can't be used of them is a note. */
export function subagentsOf({ folder, env, trusted, folders, tools }: SubagentOptions): {
  agents: Agent[];
  notes: string[];
} {
  const { agents, notes } = readAgentFiles([
    join(userFolders(env).config, "agents"),
    ...folders.map((one) => expandedHome(one, env)),
    ...(trusted ? [join(folder, ".cinch/agents")] : []),
  ]);
  const keyed = withSavedKeys(env);
  const usable = agents.map((file) => {
    const { file: _, ...config } = withKnownTools(withUsableModel(file, keyed, notes), tools, notes);
    return new Agent(config);
  });
  return { agents: usable, notes };
}

function withUsableModel(agent: AgentFile, env: Env, notes: string[]): AgentFile {
  const { model, ...others } = agent;
  if (model === undefined) return agent;
  try {
    chooseModel(model, env);
    return agent;
  } catch (error) {
    notes.push(`${agent.file}: "model": ${messageOf(error)}. The agent uses the model of the thread.`);
    return others;
  }
}

function withKnownTools(agent: AgentFile, tools: readonly string[], notes: string[]): AgentFile {
  const { availableTools } = agent;
  if (availableTools === undefined) return agent;
  for (const name of availableTools.filter((one) => !tools.includes(one)))
    notes.push(`${agent.file}: "tools": there is no tool "${name}": ${didYouMean(name, tools)}`);
  return { ...agent, availableTools: availableTools.filter((name) => tools.includes(name)) };
}
