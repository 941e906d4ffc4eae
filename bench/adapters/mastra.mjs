/**
 * Mastra: one AgentController, one session per thread, libSQL in a file. By default its model sees only the last messages. Its server is
 * `MastraServer` of `@mastra/hono`, on the HTTP server that ours has.
 */
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { aiSdkModel } from "../lib/ai-sdk-model.mjs";
import { runTool } from "../lib/script.mjs";
import { textModel } from "../lib/serving/served.mjs";

const require = createRequire(join(import.meta.dirname, "../peers/mastra/package.json"));
/** The module beside the CommonJS one that Node finds. */
function esm(name) {
  const found = require.resolve(name);
  const [file = found] = [".mjs", ".js"].map((ending) => found.replace(/\.cjs$/, ending)).filter(existsSync);
  return import(pathToFileURL(file).href);
}

const NAMES = [
  "@mastra/core/agent-controller",
  "@mastra/core/agent",
  "@mastra/core/tools",
  "@mastra/core/workspace",
  "@mastra/memory",
  "@mastra/libsql",
  "zod",
];

const SERVER_NAMES = ["@mastra/core/mastra", "@mastra/hono", "hono", "@hono/node-server"];

export async function load() {
  const modules = await Promise.all(NAMES.map(esm));
  return (options) => start(Object.assign({}, ...modules), options);
}

/** What the agent says comes over its own API: its stream of a session is what a browser gets. */
export async function serve({ folder, pieces }) {
  const modules = Object.assign({}, ...(await Promise.all([...NAMES, ...SERVER_NAMES].map(esm))));
  const { Agent, Hono, Mastra, MastraServer, getRequestListener } = modules;
  const model = textModel(pieces, "v3");
  const agent = new Agent({ id: "bench", name: "bench", instructions: "You are a benchmark agent.", model });
  const { controller, storage } = await controllerOf(modules, { folder, agent });
  const app = new Hono();
  await new MastraServer({ app, mastra: new Mastra({ agentControllers: { bench: controller }, storage }) }).init();
  const server = createServer(getRequestListener(app.fetch));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = await controller.createSession({ resourceId: "r1", threadId: "thread-r1" });
  return {
    port: server.address().port,
    path: "/api/agent-controller/bench/sessions/r1/stream",
    send: () => session.sendMessage({ content: "go" }),
    async close() {
      server.closeAllConnections();
      server.close();
      await controller.destroy?.();
    },
  };
}

async function controllerOf(mastra, { folder, agent }) {
  const { AgentController, LibSQLStore, LocalFilesystem, Memory, Workspace } = mastra;
  const storage = new LibSQLStore({ id: "bench", url: `file:${join(folder, "mastra.db")}` });
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
  return { controller, storage };
}

async function start(mastra, { folder, hooks }) {
  const { Agent, createTool, z } = mastra;
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
  const { controller, storage } = await controllerOf(mastra, { folder, agent });
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
