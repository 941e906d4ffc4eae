/** The tools with which an agent runs commands: one file for each, on top of any shell. */
import type { ToolSet } from "@cinch/core";
import { execute, type CommandPlace } from "./execute.ts";
import { executeInput } from "./execute-input.ts";
import { executeOutput } from "./execute-output.ts";
import { executeStop } from "./execute-stop.ts";

export function commandTools(place: CommandPlace): ToolSet {
  return {
    execute: execute(place),
    execute_output: executeOutput(place),
    execute_input: executeInput(place),
    execute_stop: executeStop(place),
  };
}
