/** A server that a test kills: `server.ts DATABASE PORT`. Prints its port when it listens. PORT 0: any. */
import { Harness } from "@cinch/core";
import { createServer } from "@cinch/server";
import { sqliteStore } from "@cinch/sqlite";
import { CountedTool, talkingConfig } from "../faults/talking.ts";

const [path, port] = process.argv.slice(2) as [string, string];
const tools = { count: new CountedTool(), guarded: new CountedTool() };
const harness = new Harness({ ...talkingConfig(tools), storage: sqliteStore({ path }), recover: "all" });
await harness.init();
const server = createServer({ harness });
const listening = await server.listen({ port: Number(port) });
console.log(listening.port);
