/** Mounts a server in an Express app, below a prefix and beside routes of the app. Ann posts a message, and Bob may only read. */
import type { AddressInfo } from "node:net";
import express from "express";
import { Agent, Harness, textOf, type HarnessMessage } from "@cinch/core";
import { bearerTokens, createServer, ROLES, tokenHash } from "@cinch/server";
import { say, script } from "@cinch/testkit";

// Replace it by a real model.
const model = script(say("Hello, Ann."));
const harness = new Harness({ id: "express", agent: new Agent({ name: "helper", model }) });
// Only the hashes of tokens are kept. Both people see the threads of one resource.
const people = [
  { by: "ann", sha256: tokenHash("ann-token"), resourceId: "team", may: ROLES },
  { by: "bob", sha256: tokenHash("bob-token"), resourceId: "team", may: ["read"] as const },
];
const cinch = createServer({ harness, authenticate: bearerTokens(() => people) });

const app = express();
app.use("/cinch", cinch.node); // before express.json(), which would read the bodies
app.get("/", (_, response) => void response.send("a page of the app"));
const server = app.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Sends a request as another program would. */
async function ask(token: string, path: string, body?: unknown): Promise<{ status: number; json: unknown }> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const command = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${url}/cinch/v1${path}`, { headers, ...command });
  return { status: response.status, json: await response.json() };
}

console.log(await (await fetch(url)).text());
await ask("ann-token", "/threads", { id: "greeting" });
await ask("ann-token", "/threads/greeting/post", { content: "Hello", delivery: "send" });
await ask("ann-token", "/threads/greeting/settled");
const { json: messages } = await ask("bob-token", "/threads/greeting/listMessages");
for (const { role, by, content } of messages as HarnessMessage[]) console.log(`${by ?? role}: ${textOf(content)}`);
const refused = await ask("bob-token", "/threads/greeting/post", { content: "Me too", delivery: "send" });
console.log(`bob posts: ${refused.status} ${JSON.stringify(refused.json)}`);

await cinch.close(); // ends streams, and finishes what was accepted
server.close();
await harness.close();
