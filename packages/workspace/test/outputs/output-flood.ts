import { createHash } from "node:crypto";
import { localWorkspace } from "@cinch/workspace";
import { commandDesk } from "../tools/execute/command-desk.ts";

/** Runs a command that prints 100 MB, and prints how much memory that took and what can be read afterwards. */
const [kind, root = "/", outputs = "/"] = process.argv.slice(2);
const desk = await commandDesk(localWorkspace({ root, sandbox: "none", cache: outputs }));
await desk.ok("execute", { command: "echo ready" });
globalThis.gc?.();
const before = process.memoryUsage().rss;
let most = before;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
const command = "yes 0123456789 | head -c 104857600";
const path = await (kind === "background" ? unread() : run());
clearInterval(watch);
const grown = Math.max(most, process.memoryUsage().rss) - before;
const { [path]: whole } = await desk.workspace.download([path]);
const hash = createHash("sha256").update(whole!).digest("hex");
process.stdout.write(`${JSON.stringify({ grown, hash, bytes: whole!.length })}\n`);
await desk.harness.close();

async function run(): Promise<string> {
  return String((await desk.ok("execute", { command })).details["output"]);
}

/** Reads no output before the command has ended. */
async function unread(): Promise<string> {
  const id = await desk.start(`${command}; touch over; read x`);
  await desk.ok("execute", { command: "while [ ! -e over ]; do sleep 0.05; done" });
  return String((await desk.ok("execute_output", { id })).details["output"]);
}
