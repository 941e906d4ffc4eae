import { bwrapSandbox, localWorkspace, srtSandbox } from "@cinch/workspace";
import { commandDesk } from "./command-desk.ts";

/** A harness with a background command, for tests that kill it. Prints a line when the command is ready. */
const [kind, root = "/", outputs = "/", command = ""] = process.argv.slice(2);
const sandboxes = { bwrap: bwrapSandbox, srt: srtSandbox, none: () => "none" as const };
const sandbox = sandboxes[kind as keyof typeof sandboxes]();
const desk = await commandDesk(localWorkspace({ root, sandbox, cache: outputs }));
await desk.printed(await desk.start(command), "ready\n");
process.stdout.write("ready\n");
