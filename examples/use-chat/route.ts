/** In a Next app this is `app/v1/[...path]/route.ts`. */
import { Agent, defineTool, Harness } from "@cinch/core";
import { createServer } from "@cinch/server";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const deploy = defineTool({
  description: "Deploys a build.",
  category: "execute",
  input: z.object({ build: z.number() }),
  execute: ({ build }) => `Build ${build} is live.`,
});

// Replace it by a real model.
const model = script(
  say("Hello. Shall I deploy?"),
  call("deploy", { build: 42 }, "deploy-1"),
  say("Build 42 is live.", { delayMs: 5 }),
);
export const harness = new Harness({ id: "use-chat", agent: new Agent({ name: "helper", model, tools: { deploy } }) });

// Without `authenticate` every caller on this machine may do everything. Give it one before the app can be reached from elsewhere.
export const server = createServer({ harness, adapters: ["ai-sdk"] });

export const dynamic = "force-dynamic";
export const GET = (request: Request): Promise<Response> => server.fetch(request);
export const POST = GET;
