/** Cinch: the built packages, a store on disk, all defaults except for the limit of steps. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { aiSdkModel } from "../lib/ai-sdk-model.mjs";
import { prose } from "../lib/prose.mjs";
import { runTool } from "../lib/script.mjs";
import { served, textModel } from "../lib/serving/served.mjs";

/** CINCH_ROOT selects another checkout. */
const root = process.env.CINCH_ROOT ?? join(import.meta.dirname, "../..");
const built = (name) => import(pathToFileURL(join(root, "packages", name, "dist/index.js")).href);

export async function load() {
  const [core, sqlite] = await Promise.all([built("core"), built("sqlite")]);
  return (options) => start({ ...core, ...sqlite }, options);
}

export async function serve({ folder, pieces }) {
  const { harness, port, close } = await served({ folder, model: textModel(pieces) });
  const { id } = await harness.createThread();
  return { port, path: `/v1/threads/${id}/events`, send: () => harness.sendMessage({ content: "go" }), close };
}

const input = {
  type: "object",
  properties: { n: { type: "number" }, note: { type: "string" } },
  required: ["n"],
};

async function start({ Agent, Harness, defineTool, sqliteStore, textOf }, { folder, hooks }) {
  const path = join(folder, "cinch.db");
  const store = sqliteStore({ path });
  const tool = defineTool({ description: "bench", input, execute: (args) => runTool(args, hooks) });
  const agent = new Agent({
    name: "bench",
    instructions: "You are a benchmark agent.",
    model: aiSdkModel("v4", hooks),
    tools: { bench_tool: tool },
    maxSteps: 100_000,
  });
  const harness = new Harness({
    id: "bench",
    storage: store,
    agent,
    permissions: [{ category: "other", policy: "allow" }],
  });
  await harness.init();
  const sessions = new Map();
  const session = (id) => sessions.get(id);

  return {
    /** `id` is the resource of the thread, so that another process finds it. */
    async open(id) {
      const opened = await harness.createSession({ resourceId: id });
      sessions.set(id, opened);
      await opened.selectOrCreateThread();
    },
    subscribe: (id, listener) => session(id).subscribe(listener),
    async sendMessage(id, content) {
      const { reason, message, error } = await session(id).sendMessage({ content });
      if (reason !== "complete") throw new Error(`the turn ended with ${reason}: ${error?.message}`);
      return { text: textOf(message.content) };
    },
    displayedText: (id) => textOf(session(id).getDisplayState().messages.at(-1).content),
    /** Reads the journal directly: the harness would resume an interrupted turn when it opens the thread. */
    async kept(id) {
      const [thread] = await store.threads({ resourceId: id });
      return (await store.read(thread.id)).flatMap(asMessages);
    },
    async messages(id) {
      return (await store.read(session(id).getCurrentThreadId())).flatMap(asMessages);
    },
    eventCount: (id) => session(id).getDisplayState().seq,
    async cloner(id) {
      const sourceThreadId = session(id).getCurrentThreadId();
      const other = await harness.createSession({ resourceId: id });
      return { clone: () => other.cloneThread({ sourceThreadId }), close: () => other.close() };
    },
    /** Writes threads of a few messages directly to the store: real turns would take minutes. */
    async fill(threads, messages) {
      const ids = Array.from({ length: threads }, (_, at) => at);
      for (let at = 0; at < threads; at += 500) await Promise.all(ids.slice(at, at + 500).map(write));
      async function write(n) {
        const said = Array.from({ length: messages }, (_, m) => {
          const content = [{ type: "text", text: prose(n * messages + m, 500) }];
          return eventOf("message_end", { message: { id: `m${m}`, role: m % 2 ? "assistant" : "user", content } });
        });
        const first = eventOf("thread_created", { title: `Thread ${n}`, resourceId: "default" });
        await store.append(`t${n}`, [first, ...said], { afterSeq: 0, take: 0, release: true });
      }
    },
    /** Writes one thread of at least this many events directly to the store: turns of three steps with one call each. */
    async write(id, events) {
      await store.append(id, [eventOf("thread_created", { title: "Long", resourceId: id })], { afterSeq: 0, take: 0 });
      let seq = 1;
      for (let turn = 0; seq < events;) {
        const batch = [];
        while (batch.length < 5_000 && seq + batch.length < events) batch.push(...turnEvents(turn++));
        ({ seq } = await store.append(id, batch, { afterSeq: seq, epoch: 1 }));
      }
      await store.release(id, 1);
    },
    list: (query) => harness.listThreads(query),
    find: (query) => store.findEvents(query),
    /** Appends to a thread of its own, as a driver does. Returns what a step waits for the store. */
    async appender(id) {
      let { seq, epoch } = await store.append(
        id,
        [eventOf("thread_created", { title: "Driven", resourceId: id }), eventOf("agent_start", AGENT)],
        { afterSeq: 0, take: 0 },
      );
      return {
        async result(content) {
          const call = { toolCallId: `call_${seq}`, toolName: "bench_tool" };
          const event = eventOf("tool_end", { ...call, result: { content }, isError: false, durationMs: 1 });
          ({ seq } = await store.append(id, [event], { afterSeq: seq, epoch }));
        },
        release: () => store.release(id, epoch),
      };
    },
    /** The harness resumes the turn when it opens the thread. */
    async resume(id) {
      while (session(id).getDisplayState().status !== "idle") await pause(5);
    },
    resumesByItself: true,
    /** Settles when the search index is complete. */
    async indexed() {
      const db = new DatabaseSync(path, { readOnly: true });
      while (db.prepare("SELECT 1 FROM dirty LIMIT 1").get()) await pause(20);
      db.close();
    },
    isDelta: (event) => event.type === "message_update",
    close: () => harness.close(),
  };
}

const AGENT = { modeId: "default", modelId: "bench/bench", resumed: false };

const eventOf = (type, fields) => ({ type, v: 1, at: Date.now(), ...fields });

function turnEvents(n) {
  const turnId = `turn_${n}`;
  const inputId = `input_${n}`;
  const usage = { inputTokens: 100, outputTokens: 20, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const inTurn = (type, fields) => eventOf(type, { turnId, ...fields });
  const says = (role, content, more) =>
    inTurn("message_end", { message: { id: `${role}_${n}_${content.length}`, role, content }, ...more });
  const step = (at) => {
    const call = { toolCallId: `call_${at}`, toolName: "bench_tool" };
    const result = { content: prose(n * 3 + at, 100) };
    return [
      says("assistant", [{ type: "tool-call", ...call, input: { n: at } }], { finishReason: "tool-calls" }),
      inTurn("usage_update", { usage, cost: null, cachedShare: 0 }),
      inTurn("tool_start", { ...call, args: { n: at }, key: `${turnId}:${at}`, effect: "once" }),
      inTurn("tool_end", { ...call, result, isError: false, durationMs: 1 }),
      inTurn("step_end", { finishReason: "tool-calls", usage }),
    ];
  };
  const text = [{ type: "text", text: prose(n, 100) }];
  return [
    eventOf("input_accepted", { inputId, delivery: "send", content: "go on" }),
    inTurn("agent_start", AGENT),
    inTurn("input_taken", { inputId }),
    says("user", text),
    ...[0, 1, 2].flatMap(step),
    says("assistant", text, { finishReason: "stop" }),
    inTurn("usage_update", { usage, cost: null, cachedShare: 0 }),
    inTurn("step_end", { finishReason: "stop", usage }),
    inTurn("agent_end", { reason: "complete" }),
  ];
}

function asMessages(event) {
  if (event.type === "message_end") {
    const text = event.message.content.map((part) => part.text ?? "").join("");
    return [{ role: event.message.role, toolResult: false, text }];
  }
  if (event.type !== "tool_end") return [];
  return [{ role: "tool", toolResult: !event.unknown, unknown: event.unknown === true }];
}
