import { defineTool, type ToolContext } from "@cinch/core";
import * as z from "zod";
import { MOST_RUNNING, type Background } from "../background.ts";
import { commandMatcher } from "../commands/index.ts";
import { HOW_TO_READ, Output } from "../output.ts";
import type { Command, Protection, Shell } from "../shell.ts";
import type { Watch } from "../undo/index.ts";
import { howItEnded } from "./ending.ts";
import { reachOf } from "./file-tool-deps.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_MS = 3_600_000;

/** What the tools for commands share. */
export interface CommandPlace {
  shell: Shell;
  background: Background;
  protection(): Protection;
  trusted: boolean;
  /** The path that is meant by what the model wrote, as the shell has it. Throws a `FileError`. */
  path(input: string): string;
  /** Remembers what files are before a command. Where that can't be done, the command runs all the same, and its end says why. */
  watch(context: ToolContext): Promise<Watch>;
  /** Says that a command runs in the background. Gives back how to say that it is over. */
  accompany(threadId: string): Promise<() => Promise<void>>;
}

/** Runs a command. What it prints is shown as it comes; the model gets the beginning and the end, and where the whole is. */
export const execute = (place: CommandPlace) =>
  defineTool({
    description: `Run a shell command (bash) in the workspace and wait until it ends, at most ${DEFAULT_TIMEOUT_MS / 1000} s unless timeout_ms says otherwise. Standard input is empty and there is no terminal: use flags that keep programs from asking. The result has the exit code and the output; of long output the beginning and the end, and where all of it is.
With background: true it answers at once with an id, and the command goes on, without a time limit unless timeout_ms is given, until it ends or execute_stop ends it: for servers, and for programs that ask. Follow it with execute_output, answer it with execute_input.`,
    category: "execute",
    effect: "once",
    input: z.object({
      command: z.string().min(1).describe("The command line"),
      cwd: z.string().optional().describe("The directory to run it in, by default the root of the workspace"),
      timeout_ms: z.int().min(1).max(LONGEST_MS).optional().describe("After how long it is ended"),
      background: z.boolean().optional().describe("Whether to go on without waiting for its end. Default: false."),
    }),
    matches: async (pattern, { command }) => (await commandMatcher()).matches(pattern, command),
    suggest: async ({ command }) => (await commandMatcher()).suggest(command),
    policy: () => (unprotected(place) ? "insist" : undefined),
    async execute({ command, cwd = "/", timeout_ms, background = false }, context) {
      const what = { command, cwd: place.path(cwd), trusted: place.trusted };
      const limit = timeout_ms === undefined ? {} : { timeoutMs: timeout_ms };
      if (background) return inBackground(place, { ...what, ...limit }, context);
      return toTheEnd(place, { timeoutMs: DEFAULT_TIMEOUT_MS, ...what, ...limit }, context);
    },
  });

/** Nothing stands between a command and the machine: then a person does, whatever is allowed in general. */
export const unprotected = ({ protection }: CommandPlace) => (protection().kind === "none" ? "ask" : undefined);

async function toTheEnd({ shell, background, watch }: CommandPlace, command: Command, context: ToolContext) {
  const watching = await watch(context);
  if (context.signal.aborted) await watching.end();
  context.signal.throwIfAborted();
  const output = new Output(background.outputs.place());
  const text = new TextDecoder();
  const running = shell.start(
    { ...command, signal: context.signal, reach: reachOf(context) },
    async (chunk, stream) => {
      context.files.print(text.decode(chunk, { stream: true }), stream);
      await output.sink(chunk, stream);
    },
    { combined: true },
  );
  const exit = await running.exit;
  await output.close();
  const changes = await watching.end();
  const told = "untold" in changes ? `[${changes.untold}]` : "";
  const content = [howItEnded(exit), output.textForModel(), told].filter((part) => part !== "").join("\n");
  return { content, details: { exit, bytes: output.bytes, output: output.path, ...changes } };
}

/** Neither the signal nor the files of the call go along: it is over before the command is. */
async function inBackground(
  { shell, background, protection, accompany }: CommandPlace,
  command: Command,
  context: ToolContext,
) {
  const { threadId, key } = context;
  // The key ends in where the journal has this call: no other command of the thread has that, before or after a restart.
  const id = `cmd-${key.slice(key.lastIndexOf(":") + 1)}`;
  const place = background.outputs.place();
  const output = new Output(place);
  await output.save();
  const onEnd = await accompany(threadId);
  const check = () => {
    context.signal.throwIfAborted();
    if (!background.hasRoom(threadId))
      throw new Error(
        `${MOST_RUNNING} commands of this thread run in the background already. End one with execute_stop first.`,
      );
  };
  try {
    check();
    await context.files.checkpoint({ untold: `What ${id} changes can't be reverted: it runs in the background.` });
    // Others may have been started meanwhile.
    check();
  } catch (error) {
    await output.close();
    await onEnd();
    throw error;
  }
  const reach = { threadId, resourceId: context.files.resourceId };
  const running = shell.start({ ...command, reach }, output.sink, { combined: true, interactive: true });
  background.add({ threadId, id }, { output, running, onEnd });
  if (output.path !== null) await background.outputs.note({ threadId, id }, place).catch(() => {});
  const apart = protection().ownNetwork
    ? "\nIt has a network of its own: no other command reaches what it serves. Use a server within the command that starts it: server & sleep 1; curl …"
    : "";
  const content = `Started ${id}. See what it prints with execute_output, answer it with execute_input, end it with execute_stop. Its whole output ${output.whereabouts}${output.path ? `: ${HOW_TO_READ}` : ""}.${apart}`;
  return { content, details: { id, output: output.path } };
}
