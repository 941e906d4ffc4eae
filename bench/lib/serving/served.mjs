/** A server of the built packages in this process: a store on disk, all defaults but the limits, which are per caller. */
import { join } from "node:path";
import { built } from "../built.mjs";

/** One caller is all of them here. */
const LIMITS = { streams: 100_000, requestsPerSecond: 1_000_000 };

export async function served({ folder, model, tools = {}, port = 0, page, harness: config = {} }) {
  const [{ Agent, Harness }, { sqliteStore }, { createServer }] = await Promise.all(
    ["core", "sqlite", "server"].map((name) => built(name)),
  );
  const agent = new Agent({
    name: "bench",
    instructions: "You are a benchmark agent.",
    model,
    tools,
    maxSteps: 100_000,
  });
  const store = sqliteStore({ path: join(folder, "cinch.db") });
  const harness = new Harness({
    id: "bench",
    storage: store,
    agent,
    permissions: [{ category: "other", policy: "allow" }],
    ...config,
  });
  await harness.init();
  const server = createServer({ harness, limits: LIMITS, ...(page && { page }) });
  const address = await server.listen({ port });
  const close = async () => {
    await server.close({ drainMs: 100 });
    await harness.close();
  };
  return { harness, store, port: address.port, close };
}

/** A model that gives what `pieces` yields, each as one text delta. */
export const textModel = (pieces, specificationVersion = "v4") => ({
  specificationVersion,
  provider: "fake",
  modelId: "fake-model",
  supportedUrls: {},
  doStream: async (request) => ({ stream: ReadableStream.from(partsOf(pieces(request))) }),
});

async function* partsOf(pieces) {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "t" };
  for await (const delta of pieces) yield { type: "text-delta", id: "t", delta };
  yield { type: "text-end", id: "t" };
  yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE };
}

const USAGE = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};

/** The CPU time of all threads of this process, in microseconds. */
export const cpuMicros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
