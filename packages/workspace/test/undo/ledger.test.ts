/** What was written besides a command is not taken for its change, however much it was. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { FileChange, ThreadFiles } from "@cinch/core/workspace";
import { createWorkspace, memoryBackend } from "@cinch/workspace";

/** The changes that are recorded for a command while so many files are written besides. `true`: another thread may have made it. */
async function recordedBeside(count: number): Promise<Record<string, boolean>> {
  const backend = memoryBackend({ "/old": "old" });
  const made = createWorkspace({ backend });
  const changes: FileChange[] = [];
  const files: Partial<ThreadFiles> = {
    checkpoint: async () => {},
    async record(decide) {
      changes.push(...(decide({}) ?? []));
      return true;
    },
  };
  const reach = { threadId: "t", files: files as ThreadFiles };
  const { end } = await made.undo.watch(reach, new AbortController().signal);
  await made.upload(Object.fromEntries(Array.from({ length: count }, (_, at) => [`/beside/${at}`, `${at}`])));
  await backend.write("/old", Readable.from([Buffer.from("of the command")]), {}, { threadId: "t", resourceId: "r" });
  await end();
  await made.undo.close();
  return Object.fromEntries(changes.map(({ path, shared }) => [path, shared === true]));
}

test("files that were written besides a command are not its changes", async () => {
  assert.deepEqual(await recordedBeside(1_000), { "/old": false });
});

test("of more files than are remembered, the forgotten ones may be another thread's", async () => {
  const recorded = await recordedBeside(10_002);
  assert.deepEqual(recorded, { "/beside/0": true, "/beside/1": true, "/old": true });
});
