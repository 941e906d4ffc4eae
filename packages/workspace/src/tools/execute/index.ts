/** The tools with which an agent runs commands, on top of any shell. */
import type { ToolSet } from "@cinch/core";
import { execute, type CommandHost } from "./execute.ts";
import { executeInput } from "./execute-input.ts";
import { executeOutput } from "./execute-output.ts";
import { executeStop } from "./execute-stop.ts";

export { Background } from "./background.ts";

export function commandTools(host: CommandHost): ToolSet {
  return {
    execute: execute(host),
    execute_output: executeOutput(host),
    execute_input: executeInput(host),
    execute_stop: executeStop(host),
  };
}
