import { sqliteStore } from "@cinch/sqlite";
import { localWorkspace } from "@cinch/workspace";
import { commandDesk } from "./tools/execute/command-desk.ts";

/** A harness with a umask of 0. Runs a command with a long output that changes a file, and another in the background. */
process.umask(0);
const [root = "/", cache = "/"] = process.argv.slice(2);
const storage = sqliteStore({ path: `${root}/.cinch/cinch.db` });
const desk = await commandDesk(localWorkspace({ root, sandbox: "none", cache }), { storage });
await desk.ok("execute", { command: "seq 1 40000; echo changed > file.txt" });
await desk.printed(await desk.start("echo ready; seq 1 40000; sleep 60"), "ready\n");
process.stdout.write("ready\n");
