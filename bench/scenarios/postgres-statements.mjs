/** How many statements a step and a delta cost. Those that come with time (beats, drafts, the search index) are counted in a pause and as rates. */
import { setTimeout as pause } from "node:timers/promises";
import pg from "../../node_modules/pg/lib/index.js";
import { aiSdkModel } from "../lib/ai-sdk-model.mjs";
import { built } from "../lib/built.mjs";
import { postgresIn } from "../lib/postgres/server.mjs";
import { runTool } from "../lib/script.mjs";

const input = { type: "object", properties: { n: { type: "number" }, note: { type: "string" } }, required: ["n"] };

export default async function postgresStatements({ steps, deltas, folder }) {
  const { url } = await postgresIn(folder);
  const texts = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(config, ...rest) {
    texts.push(typeof config === "string" ? config : config.text);
    return query.call(this, config, ...rest);
  };
  const { Agent, Harness, defineTool } = await built("core");
  // The harness opens and closes it.
  const { postgresStore } = await built("postgres");
  const hooks = { runTag: "bench" };
  const tool = defineTool({ description: "bench", input, execute: (args) => runTool(args, hooks) });
  const model = aiSdkModel("v4", hooks);
  const agent = new Agent({ name: "bench", instructions: "x", model, tools: { bench_tool: tool }, maxSteps: 100_000 });
  const permissions = [{ category: "other", policy: "allow" }];
  const harness = new Harness({ id: "bench", storage: postgresStore({ url }), agent, permissions });
  await harness.init();
  await harness.sendMessage({ content: "STEPS 10" });
  const count = async (content) => {
    await pause(1_000);
    texts.length = 0;
    const { reason } = await harness.sendMessage({ content });
    if (reason !== "complete") throw new Error(`the turn ended with ${reason}`);
    return {
      appends: texts.filter(isAppend).length,
      others: texts.filter((text) => !isAppend(text) && !isTimed(text)),
    };
  };
  const inSteps = await count(`STEPS ${steps}`);
  const inDeltas = await count(`DELTAS ${deltas}`);
  await harness.close();
  return {
    perStep: (inSteps.appends + inSteps.others.length) / steps,
    perDelta: (inDeltas.appends + inDeltas.others.length) / deltas,
    others: [...new Set(inSteps.others.map((text) => text.trim().slice(0, 60)))],
  };
}

const isAppend = (text) => text.includes("append_many");
/** Notices, beats, drafts, the index, saved folds and the look for lost notices are sent at most a few times a second, whatever happens. */
const isTimed = (text) =>
  ["pg_notify", "beat(", "save_draft", "index_words", ".dirty", ".folds", "last_seq AS seq"].some((part) =>
    text.includes(part),
  );
