/** Another process in the same folder, which runs a command and exits. */
import { localWorkspace } from "@cinch/workspace";
import { desk, run } from "./desk.ts";

const [root = "", cache = "", command = ""] = process.argv.slice(2);
const h = await desk({ root, workspace: localWorkspace({ root, sandbox: "none", cache }) });
await h.turn(run(command));
await h.close();
