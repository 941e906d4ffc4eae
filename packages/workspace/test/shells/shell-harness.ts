import { bwrapSandbox, localShell, type Sandbox, sandboxShell, srtSandbox } from "@cinch/workspace";

/** A process that only runs a command, for tests that kill it. Prints the first line of the command. */
const [kind, root = "/", command = ""] = process.argv.slice(2);
const sandboxes: Record<string, () => Sandbox> = { bwrap: bwrapSandbox, srt: srtSandbox };
const sandbox = sandboxes[kind ?? ""]?.();
const shell = sandbox ? sandboxShell({ root, sandbox }) : localShell({ root });
await shell.start({ command, cwd: "/" }, (chunk) => void process.stdout.write(chunk)).exit;
