import assert from "node:assert/strict";
import { Agent, defineTool, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const fetched: string[] = [];
const get = defineTool({
  description: "Fetches a page",
  category: "execute",
  input: z.object({ url: z.url() }),
  matches: (host, { url }) => (new URL(url).host === host ? "all" : "none"), // the pattern of a rule is a host
  suggest: ({ url }) => new URL(url).host, // what "always allow" remembers
  execute: ({ url }) => `page ${fetched.push(url)}`,
});
const model = script(
  call("get", { url: "https://example.org/a" }), // asks
  call("get", { url: "https://example.org/b" }), // granted by then
  call("get", { url: "https://intranet.test/" }), // is denied
  say("Read two pages."),
  call(["get", { url: "https://example.com/" }, "x"], ["get", { url: "https://intranet.test/" }, "y"]), // under YOLO
  say("Read one more."),
);
const harness = new Harness({
  id: "permissions",
  agent: new Agent({ name: "reader", model, tools: { get } }),
  permissions: [{ toolName: "get", match: "intranet.test", policy: "deny" }],
});
await harness.init();

const asked: unknown[] = [];
harness.subscribe((event) => {
  if (event.type !== "tool_approval_required") return;
  asked.push(event.args);
  const { toolCallId, digest } = event; // with the digest, the answer is good for these arguments and no others
  harness.respondToToolApproval({ toolCallId, digest, decision: "always_allow_tool", by: "ada" }).catch(console.error);
});
await harness.sendMessage({ content: "Read what there is." });
assert.deepEqual(asked, [{ url: "https://example.org/a" }]);
assert.deepEqual(harness.getSessionGrants(), [{ toolName: "get", match: "example.org", policy: "allow" }]);

await harness.setState({ yolo: true }); // ask for nothing more
await harness.sendMessage({ content: "And the rest." });
assert.deepEqual(fetched, ["https://example.org/a", "https://example.org/b", "https://example.com/"]);
assert.equal(asked.length, 1);
await harness.close();
