import { appendFileSync } from "node:fs";
import process from "node:process";
import { Agent, defineTool, Harness, type Placement } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

/** A worker on the store of a folder, without an engine: it finds every thread by itself. A signal drains it. `finding-worker FOLDER NAME PERIOD_MS` */
const [folder = "", name = "", periodMs = ""] = process.argv.slice(2);

const silent: Placement = { serve: async () => {}, wake: async () => {}, drain: async () => {} };

const step = defineTool({
  description: "Has an effect",
  effect: "once",
  input: z.object({}),
  async execute(_, { key }) {
    appendFileSync(`${folder}/ledger`, `${name} ${key}\n`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return "done";
  },
});

/** Four calls, then an answer. */
const model = scriptedBy(({ prompt }) => {
  const calls = prompt.filter(({ role }) => role === "assistant").length;
  return calls < 4 ? call("step", {}) : say("finished");
});

const h = new Harness({
  id: "worker",
  permissions: [{ category: "other", policy: "allow" }],
  storage: sqliteStore({ path: `${folder}/cinch.db`, renewMs: 200, periodMs: Number(periodMs) }),
  agent: new Agent({ name: "worker", model, tools: { step } }),
  placement: silent,
  worker: {},
});
await h.init();
process.once("SIGTERM", () => {
  const closed = h.close({ drainMs: 60_000 });
  closed.then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
process.stdout.write("ready\n");
