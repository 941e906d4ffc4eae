import { defineTool, type PathRuleLists, type Tool, type ToolDefinition, type ToolSet } from "@cinch/core";
import { agentPathRules, type PathRules } from "../path-rules/path-rules.ts";

/** Tools that keep the path rules of each call. `toolsUnder` makes the tools for the rules of some agents. */
export function restrictedTools(toolsUnder: (agents: PathRules) => ToolSet): ToolSet {
  const made = new WeakMap<PathRuleLists, ToolSet>();
  const unrestricted = toolsUnder({ lists: [] });
  const toolsFor = (pathRules: PathRuleLists): ToolSet => {
    if (pathRules.length === 0) return unrestricted;
    const tools = made.get(pathRules) ?? toolsUnder(agentPathRules(pathRules));
    made.set(pathRules, tools);
    return tools;
  };
  const restricted = (name: string, tool: Tool): Tool => {
    const toolFor = (pathRules: PathRuleLists) => toolsFor(pathRules)[name] as Tool;
    const execute: Tool["execute"] = (args, context) => toolFor(context.pathRules).execute(args, context);
    const preview: Tool["preview"] =
      tool.preview && ((args, context) => toolFor(context.pathRules).preview?.(args, context));
    return defineTool({ ...tool, execute, preview } as ToolDefinition<unknown>);
  };
  const tools = Object.entries(unrestricted) as [string, Tool][];
  return Object.fromEntries(tools.map(([name, tool]) => [name, restricted(name, tool)]));
}
