/** Mounts a server in a Hono app below a prefix, and watches a thread through it until its turn has ended. */
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { Agent, Harness, type HarnessEvent } from "@cinch/core";
import { createServer } from "@cinch/server";
import { say, script } from "@cinch/testkit";

// Replace it by a real model.
const model = script(say("One stream, through Hono."));
const harness = new Harness({ id: "hono", agent: new Agent({ name: "helper", model }) });
// Without `authenticate` every caller on this machine may do everything. Give it one before the app can be reached from elsewhere.
const cinch = createServer({ harness });

const app = new Hono();
app.mount("/agents/cinch", cinch.fetch);
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1", overrideGlobalObjects: false });
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agents/cinch/v1`;

const post = (path: string, body: unknown) =>
  fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
await post("/threads", { id: "t1" });
const stream = await fetch(`${url}/threads/t1/events`);
await post("/threads/t1/post", { content: "Hello", delivery: "send" });

let rest = "";
for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) {
  const frames = (rest + text).split("\n\n");
  rest = frames.pop()!;
  const events = frames.flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? []);
  for (const event of events.map((data) => JSON.parse(data) as HarnessEvent)) {
    if (event.type === "resync") console.log(`(watching, at event ${event.seq})`);
    if (event.type === "message_update") process.stdout.write(event.delta);
    if (event.type !== "agent_end") continue;
    console.log(`\n(${event.reason})`);
    // Ends the streams: the loop ends with its stream.
    await cinch.close();
  }
}
server.close();
await harness.close();
