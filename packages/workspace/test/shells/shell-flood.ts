import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { localShell } from "@cinch/workspace";
import { Output } from "../../src/outputs/output.ts";
import { Outputs } from "../../src/outputs/outputs.ts";

/** Runs a command that prints 100 MB into an `Output`, and prints how much memory that took. */
const [root = "/", directory = "/"] = process.argv.slice(2);
const shell = localShell({ root });
const output = new Output(new Outputs(directory).newFile("flood.txt"));

await shell.start({ command: "echo ready", cwd: "/" }, output.sink).exit;
globalThis.gc?.();
const before = process.memoryUsage().rss;
let most = before;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
const { code } = await shell.start({ command: "yes 0123456789 | head -c 104857600", cwd: "/" }, output.sink).exit;
clearInterval(watch);
await output.close();
const saved = statSync(join(directory, "flood.txt")).size;
process.stdout.write(`${JSON.stringify({ code, saved, grown: Math.max(most, process.memoryUsage().rss) - before })}\n`);
await sleep(50);
await shell.close?.();
