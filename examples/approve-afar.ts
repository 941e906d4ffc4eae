/**
 * Approvals from afar: a harness serves its threads, and another program lists what waits, and answers it over HTTP.
 *
 * Both are in one process here. The second one needs only an address and a token.
 */
import { Agent, defineTool, Harness, textOf } from "@cinch/core";
import { connect } from "@cinch/client";
import { bearerTokens, createServer, tokenHash } from "@cinch/server";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const deploy = defineTool({
  description: "Deploys a build",
  category: "execute", // asks, unless a rule allows it
  input: z.object({ build: z.int() }),
  execute: ({ build }) => `Build ${build} is deployed.`,
});
const model = script(call("deploy", { build: 42 }), say("Build 42 is live."));
const harness = new Harness({
  id: "ci",
  resourceId: "team",
  agent: new Agent({ name: "ci", model, tools: { deploy } }),
});
const ann = { sha256: tokenHash("ann-token"), resourceId: "team", by: "ann", may: ["read", "approve"] as const };
const server = createServer({ harness, authenticate: bearerTokens(() => [ann]) });
const { url } = await server.listen();
await harness.createThread({ title: "Release" });
const turn = harness.sendMessage({ content: "Release it." });
turn.catch(console.error);

/** The program of the person who approves. It returns when nothing waits any more. */
async function approver(token: string): Promise<void> {
  const client = connect({ url, token });
  const changes = await client.followThreads();
  for (;;) {
    const [waiting] = await client.pendingApprovals();
    if (!waiting) {
      await changes.next(); // of the list of threads, or of what waits
      continue;
    }
    const { title, threadId, rootThreadId, toolCallId, toolName, args, digest, decisions } = waiting;
    console.log(`"${title}" waits: ${toolName} ${JSON.stringify(args)} (${decisions.slice(0, 2).join(" or ")})`);
    const session = await client.createSession({ threadId: rootThreadId });
    // The digest binds the answer to what was shown.
    await session.respondToToolApproval({ threadId, toolCallId, digest, decision: "approve" });
    const { status } = await session.settled();
    console.log(`${session.by} approved it, and the thread is ${status}`);
    return client.close();
  }
}

await approver("ann-token");
const { message } = await turn;
console.log(textOf(message?.content ?? []));
await server.close();
await harness.close();
