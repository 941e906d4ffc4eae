/** The tools with which an agent runs commands, on top of any shell. */
import type { ToolSet } from "@cinch/core";
import { execute, type CommandHost } from "./execute.ts";
import { executeInput, executeOutput, executeStop } from "./background-tools.ts";

export { Background, type RunningCommand } from "./background.ts";

export function commandTools(host: CommandHost): ToolSet {
  return {
    execute: execute(host),
    execute_output: executeOutput(host),
    execute_input: executeInput(host),
    execute_stop: executeStop(host),
  };
}
