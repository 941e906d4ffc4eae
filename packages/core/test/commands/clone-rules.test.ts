import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness, next } from "../support.ts";

test("a rule that is set on a clone is newer than those that the clone inherited", async () => {
  const runs: string[] = [];
  const write = defineTool({
    description: "Writes",
    input: z.object({ path: z.string() }),
    matches: (pattern, { path }) => (path.startsWith(pattern) ? "all" : "none"),
    execute: ({ path }) => void runs.push(path),
  });
  await using h = await harness({ model: script(call("write", { path: "ab" }), say("done")), tools: { write } });
  await h.createThread();
  for (const title of ["One", "Two", "Three"]) await h.renameThread({ title });
  await h.setPermissionForTool({ toolName: "write", match: "a", policy: "allow" });
  await h.cloneThread({ atSeq: 1 });
  await h.setPermissionForTool({ toolName: "write", match: "ab", policy: "ask" });
  const asked = next(h, "tool_approval_required");
  const turn = h.sendMessage({ content: "Go" });
  await Promise.race([asked, turn]);
  assert.deepEqual([runs, h.getDisplayState().status], [[], "waiting"]);
});
