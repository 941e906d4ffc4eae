/**
 * deepagents on LangGraph, with its SQLite checkpointer. The part of better-sqlite3 that the checkpointer uses is
 * implemented on node:sqlite: better-sqlite3 needs a compiler, and its build for this Node aborts when statements are collected.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { plan, respond, runTool } from "../lib/script.mjs";

const require = createRequire(join(import.meta.dirname, "../peers/deepagents/package.json"));
const esm = (name) => import(pathToFileURL(require.resolve(name)).href.replace(/\.cjs$/, ".js"));

const NAMES = [
  "deepagents",
  "@langchain/core/language_models/chat_models",
  "@langchain/core/messages",
  "@langchain/core/outputs",
  "@langchain/core/tools",
  "@langchain/langgraph-checkpoint-sqlite",
  "zod",
];

export async function load() {
  const modules = await Promise.all(NAMES.map(esm));
  return (options) => start(Object.assign({}, ...modules), options);
}

async function start({ createDeepAgent, SqliteSaver, tool, z, ...langchain }, { folder, hooks }) {
  const Model = modelClass(langchain, hooks);
  const checkpointer = new SqliteSaver(database(join(folder, "deep.db")));
  const bench = tool(async (args) => runTool(args, hooks), {
    name: "bench_tool",
    description: "bench",
    schema: z.object({ n: z.number(), note: z.string().optional() }),
  });
  const systemPrompt = "You are a benchmark agent.";
  const agent = createDeepAgent({ model: new Model(), tools: [bench], systemPrompt, checkpointer });
  const listeners = new Map();
  const config = (id) => ({
    configurable: { thread_id: id },
    recursionLimit: 100_000,
    streamMode: ["messages", "updates"],
  });

  async function drive(id, input) {
    let text = "";
    for await (const event of await agent.stream(input, config(id))) {
      for (const listener of listeners.get(id)) listener(event);
      const [kind, data] = event;
      if (kind === "messages" && data[0].getType?.() === "ai") text += textOf(data[0].content);
    }
    return { text };
  }

  return {
    async open(id) {
      listeners.set(id, new Set());
      await agent.getState(config(id));
    },
    subscribe: (id, listener) => void listeners.get(id).add(listener),
    sendMessage: (id, content) => drive(id, { messages: [{ role: "user", content }] }),
    resume: (id) => drive(id, null),
    async messages(id) {
      const { values } = await agent.getState(config(id));
      return (values.messages ?? []).map((message) => {
        const role = message.getType();
        return { role, toolResult: role === "tool", text: textOf(message.content) };
      });
    },
    isDelta: ([kind]) => kind === "messages",
    close: async () => checkpointer.db.close(),
  };
}

const textOf = (content) =>
  typeof content === "string"
    ? content
    : (content ?? [])
        .filter(({ type }) => type === "text")
        .map(({ text }) => text)
        .join("");

function modelClass({ BaseChatModel, AIMessage, AIMessageChunk, ChatGenerationChunk }, hooks) {
  const memo = {};
  return class Scripted extends BaseChatModel {
    constructor(fields = {}) {
      super(fields);
      this.boundTools = fields.boundTools ?? [];
    }
    _llmType() {
      return "fake";
    }
    get profile() {
      return {};
    }
    bindTools(boundTools) {
      return new Scripted({ boundTools });
    }
    pieces(messages) {
      const tools = this.boundTools.map(({ name, description }) => [name, description]);
      hooks.onRequest?.(flatten(messages, tools));
      return respond(plan(newestFirst(messages), memo), hooks);
    }
    async *_streamResponseChunks(messages, _options, manager) {
      for await (const piece of this.pieces(messages)) {
        const chunk = new ChatGenerationChunk({
          text: piece.delta ?? "",
          message: new AIMessageChunk(chunkOf(piece)),
        });
        yield chunk;
        await manager?.handleLLMNewToken(piece.delta ?? "", undefined, undefined, undefined, undefined, { chunk });
      }
    }
    async _generate(messages) {
      let text = "";
      const tool_calls = [];
      for await (const piece of this.pieces(messages)) {
        if (piece.type === "text") text += piece.delta;
        else tool_calls.push({ id: piece.id, name: piece.name, args: piece.args, type: "tool_call" });
      }
      return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] };
    }
  };
}

function chunkOf({ type, delta, id, name, args }) {
  if (type === "text") return { content: delta };
  const call = { id, name, args: JSON.stringify(args), index: 0, type: "tool_call_chunk" };
  return { content: "", tool_call_chunks: [call] };
}

function* newestFirst(messages) {
  for (const message of messages.toReversed()) {
    const role = message.getType();
    if (role === "tool") yield { toolResult: textOf(message.content) };
    else if (role === "human") yield { user: textOf(message.content) };
  }
}

function flatten(messages, tools) {
  const blocks = [`TOOLS ${JSON.stringify(tools)}`];
  let lastRole = "";
  for (const message of messages) {
    const role = message.getType();
    if (role !== lastRole) blocks.push(`ROLE ${role}`);
    lastRole = role;
    if (role === "tool" || textOf(message.content))
      blocks.push(JSON.stringify([message.tool_call_id, message.content]));
    for (const call of message.tool_calls ?? []) blocks.push(JSON.stringify(call));
  }
  return blocks;
}

function database(path) {
  const db = new DatabaseSync(path);
  // The compiled-in default of better-sqlite3.
  db.exec("PRAGMA synchronous = NORMAL");
  const given = (values) => values.map((value) => value ?? null);
  const transaction =
    (work) =>
    (...args) => {
      db.exec("BEGIN");
      try {
        const result = work(...args);
        db.exec("COMMIT");
        return result;
      } catch (error) {
        db.exec("ROLLBACK");
        throw error;
      }
    };
  return {
    pragma: (text) => db.exec(`PRAGMA ${text}`),
    exec: (text) => db.exec(text),
    prepare(text) {
      const statement = db.prepare(text);
      return {
        get: (...values) => statement.get(...given(values)),
        all: (...values) => statement.all(...given(values)),
        run: (...values) => statement.run(...given(values)),
      };
    },
    transaction,
    close: () => db.close(),
  };
}
