/** Mastra: one AgentController, one session per thread, libSQL in a file. By default its model sees only the last messages. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { aiSdkModel } from "../lib/ai-sdk-model.mjs";
import { runTool } from "../lib/script.mjs";

const require = createRequire(join(import.meta.dirname, "../peers/mastra/package.json"));
const esm = (name) => import(pathToFileURL(require.resolve(name)).href.replace(/\.cjs$/, ".js"));

const NAMES = [
  "@mastra/core/agent-controller",
  "@mastra/core/agent",
  "@mastra/core/tools",
  "@mastra/core/workspace",
  "@mastra/memory",
  "@mastra/libsql",
  "zod",
];

export async function load() {
  const modules = await Promise.all(NAMES.map(esm));
  return (options) => start(Object.assign({}, ...modules), options);
}

async function start(mastra, { folder, hooks }) {
  const { AgentController, Agent, LibSQLStore, LocalFilesystem, Memory, Workspace, createTool, z } = mastra;
  const storage = new LibSQLStore({ id: "bench", url: `file:${join(folder, "mastra.db")}` });
  const bench_tool = createTool({
    id: "bench_tool",
    description: "bench",
    inputSchema: z.object({ n: z.number(), note: z.string().optional() }),
    execute: (args) => runTool(args, hooks),
  });
  const agent = new Agent({
    id: "bench",
    name: "bench",
    instructions: "You are a benchmark agent.",
    model: aiSdkModel("v3", hooks),
    tools: { bench_tool },
  });
  const controller = new AgentController({
    id: "bench-controller",
    agent,
    storage,
    memory: new Memory({ storage }),
    workspace: new Workspace({ id: "ws", filesystem: new LocalFilesystem({ basePath: join(folder, "ws") }) }),
    initialState: { yolo: true },
    modes: [{ id: "build", name: "Build", metadata: { default: true } }],
  });
  await controller.init();
  const sessions = new Map();

  return {
    async open(id) {
      sessions.set(id, await controller.createSession({ resourceId: id, threadId: `thread-${id}` }));
    },
    subscribe: (id, listener) => sessions.get(id).subscribe(listener),
    async sendMessage(id, content) {
      const session = sessions.get(id);
      let failure;
      let text = "";
      const off = session.subscribe((event) => {
        if (event.type === "error") failure = event.error ?? event;
        if (event.type === "message_update" && event.event?.type === "text-delta") text += event.event.delta;
      });
      try {
        await session.sendMessage({ content });
      } finally {
        off();
      }
      if (failure) throw failure instanceof Error ? failure : new Error(JSON.stringify(failure));
      return { text };
    },
    async messages(id) {
      const messages = await sessions.get(id).thread.listActiveMessages();
      return messages.flatMap(({ role, content }) =>
        (Array.isArray(content) ? content : (content?.parts ?? [])).map((part) => {
          const toolResult = part.type === "tool_result" || part.toolInvocation?.state === "result";
          return { role, toolResult, text: part.text };
        }),
      );
    },
    isDelta: (event) => event.type === "message_update",
    async close() {
      await controller.destroy?.();
      await storage.close?.();
    },
  };
}
