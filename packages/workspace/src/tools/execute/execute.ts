import { CinchError, defineTool, type PathRuleLists, type ToolContext } from "@cinch/core";
import * as z from "zod";
import { commandMatcher } from "../../commands/index.ts";
import { HOW_TO_READ, Output } from "../../outputs/output.ts";
import type { ShellCommand, Protection, Shell } from "../../shells/shell.ts";
import type { Watch } from "../../undo/index.ts";
import { reachOf } from "../file-tool-deps.ts";
import { MAX_RUNNING, type Background } from "./background.ts";
import { exitLine } from "./report.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_MS = 3_600_000;

/** What the tools for commands share. */
export interface CommandHost {
  shell: Shell;
  background: Background;
  protection(): Protection;
  trusted: boolean;
  /** The path of the shell for a path that the model wrote. Throws a `FileError`. */
  path(input: string): string;
  /** Takes a snapshot before a command. If it can't, the command runs untracked, and `end` says why. */
  watch(context: ToolContext): Promise<Watch>;
  /** Records that a background command runs, until the returned function is called. */
  accompany(threadId: string): Promise<() => Promise<void>>;
  /** Whether the shell keeps the path rules that come with a command. */
  keepsPathRules(): boolean;
  /** Path rules of agents as the shell understands them. */
  shellRules(lists: PathRuleLists): PathRuleLists;
}

/** For every tool by which an agent works with commands: it has none of them if commands can't keep its path rules. */
export const keptByShell = (host: CommandHost) => ({
  whyUnavailable: (pathRules: PathRuleLists) =>
    pathRules.length === 0 || host.keepsPathRules()
      ? undefined
      : `this agent has path rules, and commands can't keep them here. ${host.protection().description} Use the file tools.`,
});

/** Also for a call that no gate has judged, such as one by another tool. */
export function checkKept(host: CommandHost, { pathRules }: ToolContext): void {
  const reason = keptByShell(host).whyUnavailable(pathRules);
  if (reason !== undefined) throw new CinchError("PERMISSION_DENIED", `Not run: ${reason}`);
}

/** Runs a command. Output is shown as it comes; the model gets the beginning and the end, and the path of the whole. */
export const execute = (host: CommandHost) =>
  defineTool({
    description: `Run a shell command (bash) in the workspace and wait until it ends, at most ${DEFAULT_TIMEOUT_MS / 1000} s unless timeout_ms says otherwise. Standard input is empty and there is no terminal: use flags that keep programs from asking. The result has the exit code and the output; of long output the beginning and the end, and which file has all of it.
With background: true it answers at once with an id, and the command runs on, without a time limit unless timeout_ms is given, until it ends or execute_stop ends it: for servers, and for programs that ask. Follow it with execute_output, answer it with execute_input.`,
    category: "execute",
    effect: "once",
    input: z.object({
      command: z.string().min(1).describe("The command line"),
      cwd: z.string().optional().describe("The directory to run it in, by default the root of the workspace"),
      timeout_ms: z.int().min(1).max(LONGEST_MS).optional().describe("The time limit"),
      background: z.boolean().optional().describe("Whether to return at once, while the command runs. Default: false."),
    }),
    matches: async (pattern, { command }) => (await commandMatcher()).matches(pattern, command),
    suggest: async ({ command }) => (await commandMatcher()).suggest(command),
    policy: () => (isUnprotected(host) ? "insist" : undefined),
    ...keptByShell(host),
    async execute({ command, cwd = "/", timeout_ms, background = false }, context) {
      checkKept(host, context);
      const rules = host.shellRules(context.pathRules);
      const what = { command, cwd: host.path(cwd), trusted: host.trusted, rules };
      if (background) return runInBackground(host, { ...what, timeoutMs: timeout_ms }, context);
      return runToEnd(host, { ...what, timeoutMs: timeout_ms ?? DEFAULT_TIMEOUT_MS }, context);
    },
  });

/** Without protection every command asks, whatever the rules allow. */
export const isUnprotected = ({ protection }: CommandHost): boolean => protection().kind === "none";

async function runToEnd({ shell, background, watch }: CommandHost, command: ShellCommand, context: ToolContext) {
  const watching = await watch(context);
  if (context.signal.aborted) await watching.end();
  context.signal.throwIfAborted();
  const output = new Output(background.outputs.newFile());
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
  const note = "untracked" in changes ? `[${changes.untracked}]` : "";
  const content = [exitLine(exit), output.textForModel(), note].filter((part) => part !== "").join("\n");
  return { content, details: { exit, bytes: output.bytes, output: output.path, ...changes } };
}

/** The command gets neither the signal nor the files of the call, which ends before it. */
async function runInBackground(host: CommandHost, command: ShellCommand, context: ToolContext) {
  const { shell, background, protection, accompany } = host;
  const { threadId, key } = context;
  // The key ends with the position of this call in the journal, which no other command of the thread has.
  const id = `cmd-${key.slice(key.lastIndexOf(":") + 1)}`;
  const file = background.outputs.newFile();
  const output = new Output(file);
  await output.save();
  const onEnd = await accompany(threadId);
  const check = () => {
    context.signal.throwIfAborted();
    if (!background.hasRoom(threadId))
      throw new Error(
        `${MAX_RUNNING} commands of this thread run in the background already. End one with execute_stop first.`,
      );
  };
  try {
    check();
    await context.files.checkpoint({ untracked: `What ${id} changes can't be reverted: it runs in the background.` });
    // Other calls may have started commands in the meantime.
    check();
  } catch (error) {
    await output.close();
    await onEnd();
    throw error;
  }
  const reach = { threadId, resourceId: context.files.resourceId };
  const running = shell.start({ ...command, reach }, output.sink, { combined: true, interactive: true });
  const { pathRules } = context;
  background.add({ threadId, id }, { command: command.command, output, running, onEnd, pathRules });
  if (output.path !== null) await background.outputs.note({ threadId, id }, file).catch(() => {});
  const network = protection().ownNetwork
    ? "\nIt has a network of its own: no other command reaches a server in it. Use a server within the command that starts it: server & sleep 1; curl …"
    : "";
  const content = `Started ${id}. See what it prints with execute_output, answer it with execute_input, end it with execute_stop. Its whole output ${output.location}${output.path ? `: ${HOW_TO_READ}` : ""}.${network}`;
  return { content, details: { id, output: output.path } };
}
