/** A process that drives 16 threads and follows those of the next process: `appender.mjs URL NO PROCESSES`. */
import { built } from "../built.mjs";
import { created, event, storeAt } from "./server.mjs";

const [url, no, processes] = process.argv.slice(2);
const { DirectConnection } = await built("postgres", "direct-connection");
const { send } = DirectConnection.prototype;
let isLoud = true;
DirectConnection.prototype.send = function quiet(notice) {
  if (isLoud) send.call(this, notice);
};

const store = await storeAt(url);
const idsOf = (one) => Array.from({ length: 16 }, (_, at) => `p${one}t${at}`);
const next = (Number(no) + 1) % Number(processes);
for (const id of idsOf(next)) store.follow(id, () => {});
const threads = await Promise.all(
  idsOf(Number(no)).map(async (id) => {
    await store.append(id, [created(), event("agent_start")], { afterSeq: 0, take: 0, awake: true });
    return { id, seq: 2 };
  }),
);
process.send({ ready: true });

process.on("message", async ({ notices, ms }) => {
  isLoud = notices;
  const end = performance.now() + ms;
  let appended = 0;
  // An event that is not searched: the index of words is built beside the appends, whenever it may be, and would hide what is compared.
  const ended = () => event("step_end", { text: "x".repeat(400) });
  const drive = async (thread) => {
    while (performance.now() < end) {
      await store.append(thread.id, [ended()], { afterSeq: thread.seq++, epoch: 1, awake: true, active: true });
      appended++;
    }
  };
  await Promise.all(threads.map(drive));
  process.send({ appended });
});
