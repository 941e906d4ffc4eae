/** The cost of subagents, with a store on disk: many that answer at once, a fork of a long thread, and opening their parent afterwards. */
import { join } from "node:path";
import { built } from "../lib/built.mjs";
import { openingTimes } from "../lib/opening.mjs";

export default async function subagents({ folder, now, children = 100, finished = 200, events = 10_000 }) {
  const [core, sqlite, testkit] = await Promise.all(["core", "sqlite", "testkit"].map((name) => built(name)));
  const { call, say, scriptedBy } = testkit;
  let forkAsked = 0;
  const worker = new core.Agent({ name: "worker", model: scriptedBy(() => say("ok")), tools: {} });
  const input = { type: "object", properties: { prompt: { type: "string" } } };
  const plain = core.defineTool({ description: "plain", input, execute: () => "<task_result>\nok\n</task_result>" });
  const fork = new core.Agent({ name: "fork", forked: true });
  const model = scriptedBy(({ prompt }) => {
    const last = prompt.at(-1);
    const text = last.role === "user" ? last.content.map((part) => part.text ?? "").join("") : "";
    if (text.startsWith("SPAWN")) {
      const tasks = Array.from({ length: Number(text.slice(6)) }, (_, at) => [
        "task",
        { agent: "worker", prompt: `${at}` },
      ]);
      return call(...tasks);
    }
    if (text.startsWith("CALL"))
      return call(...Array.from({ length: Number(text.slice(5)) }, (_, at) => ["plain", { prompt: `${at}` }]));
    if (text.startsWith("FORK")) return call("task", { agent: "fork", prompt: "REPORT" });
    if (text.startsWith("REPORT")) forkAsked = now();
    return say("done");
  });
  const open = async (name) => {
    const harness = new core.Harness({
      id: "bench",
      storage: sqlite.sqliteStore({ path: join(folder, `${name}.db`) }),
      agent: new core.Agent({ name: "bench", model, subagents: [worker, fork] }),
      tools: { plain },
      permissions: [{ category: "other", policy: "allow" }],
    });
    await harness.init();
    await harness.selectOrCreateThread();
    return harness;
  };

  const busy = await open("children");
  const begun = now();
  await busy.sendMessage({ content: `SPAWN ${children}` });
  const childMs = (now() - begun) / children;
  await busy.sendMessage({ content: `SPAWN ${finished - children}` });
  await busy.close();

  // The same number of calls, without subagents.
  const without = await open("plain");
  for (const calls of [children, finished - children]) await without.sendMessage({ content: `CALL ${calls}` });
  await without.close();

  const long = await open("long");
  while (long.getDisplayState().seq < events) await long.sendMessage({ content: "hello" });
  const started = new Promise((resolve) => {
    long.subscribe((event) => event.type === "subagent_start" && resolve(now()));
  });
  await long.sendMessage({ content: "FORK" });
  const forkMs = forkAsked - (await started);
  await long.close();

  const [openMs, plainMs] = await openingTimes(open, ["children", "plain"], now);
  return { childMs, forkMs, openMs, plainMs };
}
