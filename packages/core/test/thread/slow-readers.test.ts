import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type HarnessEvent } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";

/** Shows 300 updates of 50,000 characters: far fewer events than a queue holds, and more bytes. */
const verbose = defineTool({
  description: "Shows a lot",
  input: z.object({}),
  execute: (_, { emit }) => {
    for (let at = 0; at < 300; at++) emit("x".repeat(50_000));
    return "shown";
  },
});

/** The unread events, up to the end of the turn. */
async function unread(events: AsyncIterable<HarnessEvent>): Promise<HarnessEvent[]> {
  const all: HarnessEvent[] = [];
  for await (const event of events) {
    all.push(event);
    if (event.type === "resync" && event.displayState.status === "idle") break;
    if (event.type === "agent_end") break;
  }
  return all;
}

test("a reader that does not read holds a few megabytes, and then gets the display state instead", async () => {
  await using h = await harness({ model: script(call("verbose", {}), say("done")), tools: { verbose } });
  await h.createThread();
  const slow = h.events();
  await h.sendMessage({ content: "go" });
  const got = await unread(slow);
  assert.equal(got[0]?.type, "resync");
  assert.ok(JSON.stringify(got).length < 9_000_000);
  assert.deepEqual(h.getDisplayState().status, "idle");
});

test("a reader that keeps up gets every event, however large they are together", async () => {
  await using h = await harness({ model: script(call("verbose", {}), say("done")), tools: { verbose } });
  await h.createThread();
  let updates = 0;
  h.subscribe((event) => (updates += event.type === "tool_update" ? 1 : 0));
  await h.sendMessage({ content: "go" });
  assert.equal(updates, 300);
});

test("who returns after many megabytes gets the display state instead of the events", async () => {
  const long = defineTool({
    description: "Prints a lot",
    category: "read",
    input: z.object({}),
    execute: () => ({ content: "done", details: { text: "y".repeat(90_000) } }),
  });
  const calls = Array.from({ length: 110 }, (): [string, object] => ["long", {}]);
  await using h = await harness({ model: script(call(...calls), say("done")), tools: { long } });
  await h.createThread();
  const { seq: since } = h.getDisplayState();
  await h.sendMessage({ content: "go" });
  assert.equal((await unread(h.events({ since })))[0]?.type, "resync");
  const recent = h.getDisplayState().seq - 5;
  assert.notEqual((await unread(h.events({ since: recent })))[0]?.type, "resync");
});
