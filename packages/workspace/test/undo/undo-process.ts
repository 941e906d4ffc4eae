/** A harness in which a command runs until the test kills it. */
import { sqliteStore } from "@cinch/sqlite";
import { localWorkspace } from "@cinch/workspace";
import { desk, run } from "./desk.ts";

const [root = "", cache = "", database = ""] = process.argv.slice(2);
const workspace = localWorkspace({ root, sandbox: "none", cache });
const h = await desk({ root, storage: sqliteStore({ path: database }), workspace });
await h.turn(run("echo more >> a.txt; rm d.txt; echo new > new.txt; touch started; sleep 60"));
