import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, Harness, textOf } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const folder = mkdtempSync(join(tmpdir(), "cinch-"));
const listen = defineTool({
  description: "Waits until the user says something",
  category: "read",
  input: z.object({}),
  timeoutMs: 10_000,
  execute: () =>
    new Promise((resolve) => {
      terminal.subscribe((event) => event.type === "steer_queued" && resolve("The user spoke."));
    }),
});
const open = (id: string) => {
  const agent = new Agent({ name: "host", model: script(call("listen"), say("Left it is.")), tools: { listen } });
  return new Harness({ id, agent, storage: sqliteStore({ path: join(folder, "cinch.db") }) });
};
const [terminal, web] = [open("terminal"), open("web")]; // two processes, as far as the store can tell
const { id: threadId } = await terminal.createThread();
await web.switchThread({ threadId });

web.subscribe((event) => {
  if (event.type === "tool_start") web.steer({ content: "Left!" }).catch(console.error);
});
const { message } = await terminal.sendMessage({ content: "Left or right?" });
assert.equal(textOf(message!.content), "Left it is.");
const said = terminal.getDisplayState().messages.filter(({ role }) => role === "user");
assert.equal(textOf(said[1]!.content), "Left!");
await Promise.all([terminal.close(), web.close()]);
rmSync(folder, { recursive: true });
