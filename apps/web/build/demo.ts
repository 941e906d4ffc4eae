import { Agent, defineTool, Harness, memoryStore } from "@cinch/core";
import { createServer } from "@cinch/server";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { webPage } from "../src/index.ts";
const md =
  "Here is **what I found**:\n\n- a list with `code`\n- [a link](https://example.com) and [bad](javascript:alert(1))\n\n```ts\nexport const total = (cart: Item[]) =>\n  cart.reduce((sum, { price }) => sum + price, 0); // all\n```\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n> quoted <img src=x onerror=alert(1)>\n\nDone.";
const edit = defineTool({
  description: "Edits",
  category: "edit",
  input: z.object({ path: z.string(), text: z.string() }),
  execute: ({ path }) => ({
    content: "edited " + path,
    details: {
      diff: "--- a/src/cart.js\n+++ b/src/cart.js\n@@ -1,4 +1,4 @@\n export function total(cart) {\n   let sum = 0;\n-  for (let i = 1; i < cart.length; i++) sum += cart[i].price;\n+  for (let i = 0; i < cart.length; i++) sum += cart[i].price;\n   return sum;\n }\n",
    },
  }),
});
const run = defineTool({
  description: "Runs",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}\n3 passed\n`,
});
const model = script(
  call("edit", { path: "src/cart.js", text: "…" }),
  call("execute", { command: "npm test -- --watch=false" }),
  say(md, { size: 8, delayMs: 10 }),
  call("ask_user", {
    question: "Which database?",
    options: [{ label: "sqlite", description: "one file" }, { label: "postgres" }],
  }),
  say("Chosen. ".repeat(30), { delayMs: 10 }),
);
const harness = new Harness({
  id: "demo",
  storage: memoryStore(),
  agent: new Agent({ name: "demo", instructions: "Demo", model, tools: { edit, execute: run } }),
  permissions: [{ category: "edit", policy: "allow" }],
});
await harness.init();
const server = createServer({ harness, page: await webPage() });
const { url } = await server.listen({ port: Number(process.env["PORT"] ?? 0) });
console.log(url);
