/** What waits for a person in a thousand threads is listed without blocking the event loop. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { longestBlock } from "../../testkit/test/longest-block.ts";

const THREADS = 1_000;
const AT_ONCE = 20;
const LIMIT_MS = 50;

test("a thousand threads that wait for an answer are listed, and the event loop is never blocked for long", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cinch-pending-"));
  const storage = () => sqliteStore({ path: join(folder, "cinch.db") });
  const model = scriptedBy(() => call("ask_user", { question: "Which of them?" }));
  const asking = new Harness({ id: "asking", agent: new Agent({ name: "asking", model }), storage: storage() });
  for (let at = 0; at < THREADS; at += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const session = await asking.createSession();
        await session.createThread();
        await session.post({ content: "go", delivery: "send" });
        await session.settled();
        await session.close();
      }),
    );
  await asking.close();

  const agent = new Agent({ name: "asking", model: script(say("x")) });
  const listing = new Harness({ id: "listing", agent, storage: storage() });
  await listing.init();
  let found = 0;
  const blockedMs = await longestBlock(async () => void (found = (await listing.pending()).length));
  await listing.close();
  rmSync(folder, { recursive: true });
  assert.deepEqual([found, blockedMs < LIMIT_MS], [THREADS, true], `blocked for ${blockedMs} ms`);
});
