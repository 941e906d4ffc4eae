/**
 * A page with useChat of the AI SDK, and the route of a Next app behind it.
 *
 * The program posts what the page would post, and ends. To open the page yourself: npm run example use-chat -- --serve
 */
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { build } from "esbuild";
import { GET, harness, POST, server } from "./route.ts";

const HTML =
  '<!doctype html><meta charset="utf-8"><title>Chat</title><div id="root"></div><script type="module" src="/page.js"></script>';

/** The page as a bundle. Next does this by itself. */
async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "browser.tsx")],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0]!.text;
}

const page = bundled();
const html = { headers: { "content-type": "text/html" } };
const js = { headers: { "content-type": "text/javascript" } };
const app = createAdaptorServer({
  overrideGlobalObjects: false,
  fetch: async (request: Request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/") return new Response(HTML, html);
    if (pathname === "/page.js") return new Response(await page, js);
    return request.method === "POST" ? POST(request) : GET(request);
  },
});
await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
const { port } = app.address() as { port: number };
const url = `http://127.0.0.1:${port}`;

if (process.argv.includes("--serve")) console.log(`Open ${url}`);
else {
  console.log(`(the page has ${Math.round((await page).length / 1_000)} kB)`);
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
  const response = await fetch(`${url}/v1/chat?v=7`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: "my-chat", trigger: "submit-message", messages: [message] }),
  });
  console.log(await response.text());
  app.close();
  await server.close();
  await harness.close();
}
