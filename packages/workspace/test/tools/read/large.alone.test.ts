import assert from "node:assert/strict";
import { test } from "node:test";
import type { Backend } from "@cinch/workspace";
import { fileDesk } from "../file-desk.ts";

test("a file of a gigabyte is readable at any offset, with flat memory", async () => {
  const LINE = 128;
  const chunk = Buffer.alloc(1 << 20, `${"x".repeat(LINE - 1)}\n`);
  const size = 2 ** 30;
  await using d = await fileDesk({
    files: { "/big.log": "" },
    around: (plain): Backend => ({
      list: (path) => plain.list(path),
      stat: async (path) => ({ ...(await plain.stat(path))!, size }),
      async *read(_, { start = 0, end = size }) {
        for (let at = start; at < end; at += chunk.length) yield chunk.subarray(0, Math.min(chunk.length, end - at));
      },
      write: () => Promise.reject(new Error("not here")),
      delete: () => Promise.reject(new Error("not here")),
      glob: (query) => plain.glob(query),
      grep: (query) => plain.grep(query),
    }),
  });
  const before = process.memoryUsage();
  const shown = await d.ok("read_file", { file_path: "big.log", offset: 8_000_000, limit: 2 });
  const after = process.memoryUsage();
  assert.match(shown, /^lines 8000001-8000002 of 8388608; for more call read_file with offset 8000002\n8000001\txxx/);
  assert.ok(after.heapUsed + after.external - before.heapUsed - before.external < 100 * 2 ** 20);
});
