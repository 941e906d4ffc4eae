import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connect } from "@cinch/client";
import { Agent, defineTool, Harness, memoryStore } from "@cinch/core";
import { bearerTokens, createServer, ROLES, tokenHash } from "@cinch/server";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { ProxyProcess, whyMissing, type ProxyName } from "./proxy-process.ts";

const TOKEN = "ann-token";
const authenticate = bearerTokens(() => [{ sha256: tokenHash(TOKEN), resourceId: "team", by: "ann", may: ROLES }]);
const MEGABYTE = 1_000_000;

/** A server behind a proxy, whose tool ends when the test opens its gate. */
async function behind(name: ProxyName, cleanUp: AsyncDisposableStack, prefix?: string) {
  const gate = Promise.withResolvers<string>();
  const tools = {
    gate: defineTool({ description: "Waits", effect: "pure", input: z.object({}), execute: () => gate.promise }),
  };
  const model = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("through") : call("gate")));
  const harness = new Harness({
    id: "proxies",
    agent: new Agent({ name: "a", model, tools }),
    storage: memoryStore(),
    permissions: [{ category: "other", policy: "allow" }],
  });
  await harness.init();
  const server = createServer({ harness, authenticate, hosts: ["cinch.example.com"] });
  const { port } = await server.listen();
  cleanUp.defer(async () => {
    await server.close({ drainMs: 0 });
    await harness.close();
  });
  const proxy = cleanUp.use(await ProxyProcess.start(name, port, prefix));
  const client = connect({ url: proxy.url, token: TOKEN, fetch: proxy.fetch });
  cleanUp.defer(() => client.close());
  return { proxy, client, open: () => gate.resolve("opened") };
}

for (const name of ["nginx", "caddy"] as const)
  describe(`with the configuration of the documentation, ${name}`, { skip: whyMissing(name) }, () => {
    test("passes each event on at once", async () => {
      await using cleanUp = new AsyncDisposableStack();
      const { proxy, client, open } = await behind(name, cleanUp);
      const session = await client.createSession();
      const { id } = await session.createThread();
      const asked = new AbortController();
      cleanUp.defer(() => asked.abort());
      const stream = await proxy.fetch(`${proxy.url}/v1/threads/${id}/events`, {
        headers: { authorization: `Bearer ${TOKEN}`, accept: "text/event-stream" },
        signal: asked.signal,
      });
      const turn = session.sendMessage({ content: "go" });
      // A proxy that collects would keep the stream until the tool has ended, and the tool waits for it.
      const decoder = new TextDecoder();
      let seen = "";
      const reader = stream.body!.getReader();
      while (!seen.includes('"tool_start"')) seen += decoder.decode((await reader.read()).value, { stream: true });
      open();
      assert.equal((await turn).reason, "complete");
    });

    test("can have the server below a prefix", async () => {
      await using cleanUp = new AsyncDisposableStack();
      const { proxy, client, open } = await behind(name, cleanUp, "/agent");
      open();
      const session = await client.createSession();
      assert.equal((await session.sendMessage({ content: "go" })).reason, "complete");
      assert.match(proxy.url, /\/agent$/);
      const outside = await proxy.fetch(`${new URL(proxy.url).origin}/v1/health`);
      assert.equal(outside.headers.get("cinch-protocol"), null);
    });

    test("takes messages with files up to the limit of the server, and hosts by name", async () => {
      await using cleanUp = new AsyncDisposableStack();
      const { proxy, client, open } = await behind(name, cleanUp);
      open();
      const session = await client.createSession();
      const data = new Uint8Array(24 * MEGABYTE).fill(7);
      const { reason } = await session.sendMessage({ content: "look", files: [{ mediaType: "image/png", data }] });
      assert.equal(reason, "complete");
      const part = session.getDisplayState().messages[0]!.content.find((one) => one.type === "file");
      const file = await session.readBlob({ hash: part!.blob! });
      assert.deepEqual([file?.bytes.length, file?.bytes.at(-1)], [data.length, 7]);
      const foreign = await proxy.fetch(`${proxy.url}/v1/health`, { headers: { host: "evil.example" } });
      assert.notEqual(await foreign.text(), await (await proxy.fetch(`${proxy.url}/v1/health`)).text());
    });
  });
