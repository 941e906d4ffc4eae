import { defineTool } from "@cinch/core";
import * as z from "zod";
import { commandMatcher } from "../commands/index.ts";
import { Output } from "../output.ts";
import type { Exit, Protection, Shell } from "../shell.ts";
import { reachOf } from "./place.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_MS = 3_600_000;

export interface ExecuteConfig {
  shell: Shell;
  /** Where output goes that is too long for the model. */
  outputs: string;
  protection(): Protection;
  path(input: string): string;
}

/** Runs a command. What it prints is shown as it comes; the model gets the beginning and the end, and where the whole is. */
export const execute = ({ shell, outputs, protection, path }: ExecuteConfig) =>
  defineTool({
    description: `Run a shell command (bash) in the workspace and wait until it ends, at most ${DEFAULT_TIMEOUT_MS / 1000} s unless timeout_ms says otherwise. Standard input is empty and there is no terminal: use flags that keep programs from asking. The result has the exit code and the output; of long output the beginning and the end, and where all of it is.`,
    category: "execute",
    effect: "once",
    input: z.object({
      command: z.string().min(1).describe("The command line"),
      cwd: z.string().optional().describe("The directory to run it in, by default the root of the workspace"),
      timeout_ms: z.int().min(1).max(LONGEST_MS).optional().describe("After how long it is ended"),
    }),
    matches: async (pattern, { command }) => (await commandMatcher()).matches(pattern, command),
    suggest: async ({ command }) => (await commandMatcher()).suggest(command),
    // Nothing stands between a command and the machine: then a person does, whatever is allowed in general.
    policy: () => (protection().kind === "none" ? "ask" : undefined),
    async execute({ command, cwd = "/", timeout_ms = DEFAULT_TIMEOUT_MS }, context) {
      const { signal, files, toolCallId } = context;
      const output = new Output({
        directory: outputs,
        name: `${toolCallId.replaceAll(/[^\w-]/g, "_")}-${Date.now()}.txt`,
      });
      const text = new TextDecoder();
      const running = shell.start(
        { command, cwd: path(cwd), timeoutMs: timeout_ms, signal, reach: reachOf(context) },
        async (chunk, stream) => {
          files.print(text.decode(chunk, { stream: true }), stream);
          await output.sink(chunk, stream);
        },
        { combined: true },
      );
      const exit = await running.exit;
      await output.close();
      const content = [endOf(exit, timeout_ms), output.textForModel()].filter((part) => part !== "").join("\n");
      return { content, details: { exit, bytes: output.bytes, output: output.path } };
    },
  });

function endOf({ code, signal, timedOut, durationMs, leftBehind }: Exit, timeoutMs: number): string {
  const after = `after ${(durationMs / 1000).toFixed(1)} s`;
  const left = leftBehind ? " What it had left running was ended." : "";
  if (timedOut)
    return `Ended after the time limit of ${timeoutMs} ms. Give a longer timeout_ms if it needs more.${left}`;
  if (signal) return `Ended by ${signal} ${after}.${left}`;
  return `Exit code ${code} ${after}.${left}`;
}
