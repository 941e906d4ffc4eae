/** A worker of the built packages, which notes when its first append to each thread is done: commands of `askedProcess`. */
import { performance } from "node:perf_hooks";
import { built } from "../built.mjs";
import { textModel } from "../serving/served.mjs";
import { placementOf } from "./wakes.mjs";

const [{ Agent, Harness }, { postgresStore }] = await Promise.all([built("core"), built("postgres")]);
const firsts = new Map();
let harness;

const commands = {
  async open({ url, engine }) {
    const storage = postgresStore({ url });
    const { append } = storage;
    storage.append = async (threadId, events, options) => {
      const result = await append.call(storage, threadId, events, options);
      if (!firsts.has(threadId)) firsts.set(threadId, performance.timeOrigin + performance.now());
      return result;
    };
    const agent = new Agent({
      name: "bench",
      instructions: "x",
      model: textModel(async function* () {
        yield "ok";
      }),
    });
    harness = new Harness({ id: "bench", agent, storage, placement: await placementOf(engine), worker: {} });
    await harness.init();
  },
  firsts: async () => [...firsts],
  close: async () => harness.close({ drainMs: 100 }),
};

process.on("message", async ({ id, command, options }) => {
  try {
    process.send({ id, result: await commands[command](options) });
  } catch (error) {
    process.send({ id, failed: String(error?.stack ?? error) });
  }
});
