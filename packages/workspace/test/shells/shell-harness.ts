import { bwrapSandbox, localShell, type Sandbox, sandboxShell, srtSandbox } from "@cinch/workspace";

/** Something that runs a command and does nothing else: to be killed. Says what the command prints first. */
const [kind, root = "/", command = ""] = process.argv.slice(2);
const sandboxes: Record<string, () => Sandbox> = { bwrap: bwrapSandbox, srt: srtSandbox };
const sandbox = sandboxes[kind ?? ""]?.();
const shell = sandbox ? sandboxShell({ root, sandbox }) : localShell({ root });
await shell.start({ command, cwd: "/" }, (chunk) => void process.stdout.write(chunk)).exit;
