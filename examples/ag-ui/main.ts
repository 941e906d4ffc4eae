/**
 * A page with a client of AG-UI, and a server that speaks it.
 *
 * The program talks to the server as the page would, and ends. To open the page yourself: npm run example ag-ui -- --serve
 */
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { Agent, defineTool, Harness } from "@cinch/core";
import { createServer } from "@cinch/server";
import { call, say, script } from "@cinch/testkit";
import { build } from "esbuild";
import * as z from "zod";

const deploy = defineTool({
  description: "Deploys a build.",
  category: "execute",
  input: z.object({ build: z.number() }),
  execute: ({ build: number }) => `Build ${number} is live.`,
});
// Replace it by a real model.
const model = script(
  say("Hello. Shall I deploy?"),
  call("deploy", { build: 42 }, "deploy-1"),
  say("Build 42 is live."),
);
const harness = new Harness({ id: "ag-ui", agent: new Agent({ name: "helper", model, tools: { deploy } }) });

const HTML =
  '<!doctype html><meta charset="utf-8"><title>Chat</title><main></main><form><input name="text" autofocus><button>Send</button></form><script type="module" src="/page.js"></script>';
const { outputFiles } = await build({
  entryPoints: [join(import.meta.dirname, "browser.ts")],
  bundle: true,
  write: false,
  format: "esm",
});
const page = new Map([
  ["/", { bytes: new TextEncoder().encode(HTML), mediaType: "text/html; charset=utf-8" }],
  ["/page.js", { bytes: new Uint8Array(outputFiles[0]!.contents), mediaType: "text/javascript; charset=utf-8" }],
]);

// Without `authenticate` every caller on this machine may do everything, and no other machine reaches it.
const server = createServer({ harness, adapters: ["ag-ui"], page });
const { url } = await server.listen();

if (process.argv.includes("--serve")) console.log(`Open ${url}`);
else {
  const agent = new HttpAgent({ url: `${url}/v1/agui`, threadId: "my-thread" });
  await post(agent, "Hi");
  await post(agent, "Yes");
  const [interrupt] = agent.pendingInterrupts;
  console.log(`(waits: ${interrupt!.metadata?.["toolName"]} ${JSON.stringify(interrupt!.metadata?.["args"])})`);
  await agent.runAgent({
    resume: [{ interruptId: interrupt!.id, status: "resolved", payload: { decision: "approve" } }],
  });
  for (const { role, content } of agent.messages) if (typeof content === "string") console.log(`${role}: ${content}`);
  await server.close();
  await harness.close();
}

async function post(agent: HttpAgent, content: string): Promise<void> {
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
  await agent.runAgent();
}
