import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { memoryStore } from "@cinch/core";
import type { StampedEvent } from "@cinch/core/journal";
import { desk, folder } from "./desk.ts";

const journal = join(import.meta.dirname, "../../../../test/fixtures/0.3.0/untold.events.json");

test("a journal of 0.3.0 says why a command is untracked, under the name that the reason had then", async () => {
  const written = JSON.parse(readFileSync(journal, "utf8")) as StampedEvent[];
  assert.ok(written.some((event) => "untold" in event && event.v === 1));
  const storage = memoryStore();
  await storage.open();
  await storage.append("old", written, { afterSeq: 0, take: 0, release: true });
  await storage.close();
  using root = folder();
  await using h = await desk({ root: root.path, storage });
  const { untracked } = await h.rewind({ toSeq: 1, files: true, dryRun: true });
  assert.deepEqual(untracked, ["What cmd-10 changes can't be reverted: it runs in the background."]);
});
