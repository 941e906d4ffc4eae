/** pi: AgentHarness of pi-agent-core, with one SQLite file per session (its durable layout) or one JSONL file. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { plan, respond, runTool } from "../lib/script.mjs";

const packages = join(import.meta.dirname, "../peers/pi/node_modules/@earendil-works");
const file = (path) => import(pathToFileURL(join(packages, path)).href);

export async function load({ store }) {
  const [core, ai, sqlite] = await Promise.all([
    file(store === "jsonl" ? "pi-agent-core/dist/node.js" : "pi-agent-core/dist/index.js"),
    file("pi-ai/dist/index.js"),
    store === "sqlite" ? file("pi-session-backend-sqlite-node/dist/index.js") : undefined,
  ]);
  return (options) => start({ core, ai, sqlite }, options);
}

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 110, cost: { ...cost, total: 0 } };
const definition = {
  id: "fake-model",
  name: "fake",
  api: "fake-api",
  provider: "fake",
  baseUrl: "http://localhost:0",
  reasoning: false,
  input: ["text"],
  cost,
  contextWindow: 1e9,
  maxTokens: 16_384,
};
const parameters = {
  type: "object",
  properties: { n: { type: "number" }, note: { type: "string" } },
  required: ["n"],
};
const EVENTS =
  "run_start run_end turn_start turn_end message_start message_update message_end tool_start tool_end entry_added usage fault handler_error run_resume compaction_start compaction_end".split(
    " ",
  );

async function start({ core, ai, sqlite }, { folder, hooks }) {
  const background = core.BACKGROUND_CONTEXT;
  const models = ai.createModels();
  const stream = scriptedStream(ai, hooks);
  const auth = { apiKey: { name: "Fake", resolve: async () => ({ auth: {} }) } };
  models.setProvider(
    ai.createProvider({ id: "fake", auth, models: [definition], api: { stream, streamSimple: stream } }),
  );
  const sessionsRoot = join(folder, "sessions");
  const repo = sqlite
    ? new sqlite.SqliteSessionRepo({ directory: sessionsRoot, databaseFactory: sqlite.createNodeSqliteFactory() })
    : new core.JsonlSessionRepo({ fileSystem: new core.NodeExecutionEnv({ cwd: folder }), sessionsRoot });
  const tool = {
    name: "bench_tool",
    label: "bench",
    description: "bench",
    parameters,
    execute: async (_id, args) => ({ content: [{ type: "text", text: await runTool(args, hooks) }], details: {} }),
  };
  const threads = new Map();
  let known;

  async function open(id) {
    known ??= new Map((await repo.list(sqlite ? undefined : {}, background)).map((entry) => [entry.id, entry]));
    const entry = known.get(id);
    const session = entry
      ? await repo.open(entry, background)
      : await repo.create({ id, ...(sqlite ? {} : { cwd: folder }) }, background);
    const options = { session, models, model: definition, tools: [tool], systemPrompt: "You are a benchmark agent." };
    const { harness } = await core.AgentHarness.create(options, background);
    const lane = await harness
      .lane("main", { createAt: null }, background)
      .catch(() => harness.lane("main", background));
    threads.set(id, { harness, lane, session });
  }

  return {
    open,
    subscribe(id, listener) {
      for (const type of EVENTS) threads.get(id).harness.events.on(type, (event) => void listener(event));
    },
    async sendMessage(id, content) {
      const { harness, lane } = threads.get(id);
      let text = "";
      const off = harness.events.on("message_end", ({ message }) => {
        if (message.role === "assistant") text += textOf(message.content);
      });
      try {
        assertDone(await lane.prompt(content, undefined, background));
      } finally {
        off();
      }
      return { text };
    },
    resume: async (id) => assertDone(await threads.get(id).lane.resume(background)),
    async messages(id) {
      const entries = await threads.get(id).lane.findEntries(undefined, background);
      return entries
        .filter(({ type }) => type === "message")
        .map(({ message: { role, content } }) => {
          return { role, toolResult: role === "toolResult", text: role === "system" ? "" : textOf(content ?? "") };
        });
    },
    isDelta: (event) => event.type === "message_update" && event.event.type === "text_delta",
    async close() {
      for (const { harness, session } of threads.values()) {
        await harness.close(background);
        await session.close(background);
      }
      await repo.close(background);
    },
  };
}

function assertDone(result) {
  if (!result.ok) throw result.error;
  if (result.value.status !== "completed") throw new Error(`run ${JSON.stringify(result.value).slice(0, 300)}`);
}

const textOf = (content) =>
  typeof content === "string"
    ? content
    : content
        .filter(({ type }) => type === "text")
        .map(({ text }) => text)
        .join("");

function* newestFirst(messages) {
  for (const { role, content } of messages.toReversed()) {
    if (role === "toolResult") yield { toolResult: textOf(content) };
    else if (role === "user") yield { user: textOf(content) };
  }
}

function flatten({ tools = [], systemPrompt = "", messages }) {
  const listed = tools.map((tool) => [tool.name, tool.description, tool.parameters]);
  const blocks = [`TOOLS ${JSON.stringify(listed)}${JSON.stringify(systemPrompt)}`];
  let lastRole = "";
  for (const { role, content, toolCallId, sections } of messages) {
    if (role !== lastRole) blocks.push(`ROLE ${role}`);
    lastRole = role;
    if (role === "system") blocks.push(JSON.stringify([content, sections]));
    else
      for (const block of typeof content === "string" ? [content] : content)
        blocks.push(JSON.stringify([toolCallId, block]));
  }
  return blocks;
}

/** The scripted model in the stream protocol of pi: each event has the message so far. */
function scriptedStream(ai, hooks) {
  const memo = {};
  return (model, context, options) => {
    const out = ai.createAssistantMessageEventStream();
    const partial = {
      role: "assistant",
      content: [],
      api: "fake-api",
      provider: "fake",
      model: "fake-model",
      usage,
      stopReason: "pending",
      timestamp: Date.now(),
    };
    const push = (event) => out.push({ ...event, partial: { ...partial } });
    const run = async () => {
      await options?.onResponse?.({ status: 200, headers: {} }, model);
      hooks.onRequest?.(flatten(context));
      push({ type: "start" });
      let stopReason = "stop";
      for await (const piece of respond(plan(newestFirst(context.messages), memo), hooks)) {
        if (piece.type === "tool") {
          stopReason = "toolUse";
          pushCall(partial, push, piece);
        } else pushText(partial, push, piece.delta);
      }
      if (partial.content[0]?.type === "text")
        push({ type: "text_end", contentIndex: 0, content: partial.content[0].text });
      const message = { ...partial, stopReason };
      out.push({ type: "done", reason: stopReason, message });
      out.end(message);
    };
    queueMicrotask(() =>
      run().catch((error) => {
        const message = { ...partial, stopReason: "error", errorMessage: String(error?.stack ?? error) };
        out.push({ type: "error", reason: "error", error: message });
        out.end(message);
      }),
    );
    return out;
  };
}

function pushText(partial, push, delta) {
  if (partial.content.length === 0) {
    partial.content = [{ type: "text", text: "" }];
    push({ type: "text_start", contentIndex: 0 });
  }
  partial.content[0].text += delta;
  push({ type: "text_delta", contentIndex: 0, delta });
}

function pushCall(partial, push, { id, name, args }) {
  const call = { type: "toolCall", id, name, arguments: {} };
  partial.content = [...partial.content, call];
  const contentIndex = partial.content.length - 1;
  push({ type: "toolcall_start", contentIndex });
  push({ type: "toolcall_delta", contentIndex, delta: JSON.stringify(args) });
  call.arguments = args;
  push({ type: "toolcall_end", contentIndex, toolCall: { ...call } });
}
