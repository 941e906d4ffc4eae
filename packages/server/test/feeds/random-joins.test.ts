import assert from "node:assert/strict";
import { test } from "node:test";
import type { HarnessDisplayState } from "@cinch/core";
import { defineTool } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { serving } from "../serving.ts";
import { plain, Watching } from "./watching.ts";

const echo = defineTool({
  description: "Echoes",
  input: z.object({ text: z.string() }),
  execute: ({ text }) => text.repeat(800),
});

/** What the journal says, without the contents of live events. */
const durable = ({ messages, seq, title, inbox, tokenUsage, status }: HarnessDisplayState) => ({
  messages,
  seq,
  title,
  inbox,
  tokenUsage,
  status,
});

test("a client that is cut off at random moments, and returns with the last id, folds to the display of the session", async () => {
  const turns = 6;
  const steps = Array.from({ length: turns }, (_, n) => [
    call("echo", { text: `turn ${n} ` }),
    say(`answer ${n} `.repeat(60), { delayMs: 1 }),
  ]);
  await using at = await serving({
    model: script(...steps.flat()),
    tools: { echo },
    limits: { requestsPerSecond: 10_000 },
  });
  const { id } = await at.at.thread();
  const url = `${at.url}/v1/threads/${id}/events`;
  const last = turns * 4;
  const clients = Array.from({ length: 4 }, async (_, seed) => {
    let display: HarnessDisplayState | undefined;
    for (let n = 1; ; n++) {
      const since = display ? `?since=${display.seq}` : "";
      // A client that returns forgets what live events said: the server says it again.
      const from = display && { ...display, currentMessage: null, toolInputBuffers: {} };
      const watching = await Watching.open(url + since, from ? { from } : {});
      const frames = 1 + ((seed * 7 + n * 13) % 17);
      const isEnd = (one: Watching) => one.display.messages.length >= turns * 3 && one.display.status === "idle";
      await watching.until((one) => one.frames.length >= frames || isEnd(one));
      display = watching.display;
      const isOver = isEnd(watching);
      watching.close();
      if (isOver) return display;
    }
  });
  for (let n = 0; n < turns; n++) {
    await at.at.post(`/v1/threads/${id}/post`, { content: `go ${n}`, delivery: "send" });
    await at.at.get(`/v1/threads/${id}/settled`);
  }
  const session = await at.harness.createSession({ threadId: id });
  const expected = durable(plain(session.getDisplayState()));
  assert.ok(expected.messages.length <= last);
  for (const display of await Promise.all(clients)) assert.deepEqual(durable(plain(display)), expected);
});
