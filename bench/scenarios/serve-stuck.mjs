/** A watcher that never reads, while a command prints much: what the server holds for it, and whether another watcher gets everything. */
import { collectGarbage } from "../lib/garbage.mjs";
import { clients } from "../lib/serving/clients.mjs";
import { served } from "../lib/serving/served.mjs";
import { built } from "../lib/built.mjs";

const CHARS = 10_000;
/** Half of what a feed keeps for watchers that are a little late: the watcher that reads is never passed over. */
const AT_ONCE = 50;

export default async function serveStuck({ megabytes, folder }) {
  const { defineTool } = await built("core");
  let work;
  const print = defineTool({
    description: "Prints",
    input: { type: "object" },
    execute: (_, { files }) => work(files),
  });
  const host = await served({ folder, model: callingModel(), tools: { print } });
  const { id } = await host.harness.createThread();
  const path = `/v1/threads/${id}/events`;
  const readers = clients();
  const stuck = clients();
  await readers.ask("watch", { port: host.port, paths: [path] });
  let measured;
  work = async (files) => {
    const stream = (name, size) => printed({ files, readers, name, megabytes: size });
    await stream("warm", 50);
    const before = memory();
    await readers.ask("count");
    const alone = await stream("alone", megabytes);
    const without = memory();
    await stuck.ask("watchWithoutReading", { port: host.port, path, count: 1 });
    const beside = await stream("beside", megabytes);
    const { resyncs, bytes } = await readers.ask("counted");
    measured = {
      mbForIt: (memory() - without) / 1e6,
      mbBefore: (without - before) / 1e6,
      missed: resyncs,
      readGB: bytes / 1e9,
      slower: beside / alone,
    };
    return "printed";
  };
  await host.harness.sendMessage({ content: "go" });
  readers.close();
  stuck.close();
  return measured;
}

async function printed({ files, readers, name, megabytes }) {
  const text = "x".repeat(CHARS);
  const from = performance.now();
  const lines = (megabytes * 1e6) / CHARS;
  for (let n = 0; n < lines; n++) {
    files.print(`${text} ${name} ${n};`, "stdout");
    if (n % AT_ONCE === AT_ONCE - 1) await readers.ask("received", { text: `${name} ${n};` });
  }
  return performance.now() - from;
}

/** Buffers are freed after the objects that held them. */
function memory() {
  for (let n = 0; n < 3; n++) collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Calls the tool once. */
const callingModel = () => ({
  specificationVersion: "v4",
  provider: "fake",
  modelId: "fake-model",
  supportedUrls: {},
  doStream: async ({ prompt }) => ({ stream: ReadableStream.from(prompt.at(-1).role === "tool" ? SAID : CALLED) }),
});

const finish = (reason) => ({
  type: "finish",
  finishReason: { unified: reason, raw: reason },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
});
const CALLED = [{ type: "tool-call", toolCallId: "call_1", toolName: "print", input: "{}" }, finish("tool-calls")];
const SAID = [{ type: "text-delta", id: "t", delta: "done" }, finish("stop")];
