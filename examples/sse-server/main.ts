/**
 * An SSE server: a page that follows a thread, reconnects without a gap, and posts messages.
 *
 * The program then simulates a browser that loses its connection, and ends. To open the page yourself:
 * npm run example sse-server -- --serve
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { AddressInfo } from "node:net";
import { Agent, CinchError, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { say, scriptedBy } from "@cinch/testkit";
import { playBrowser } from "./browser.ts";

// When EventSource reconnects, it sends the last id that it received as Last-Event-ID.
const PAGE = `<!doctype html><meta charset="utf-8"><title>Cinch</title>
<form><input name="content" autofocus><button>Send</button></form><pre></pre>
<script>
  const out = document.querySelector("pre");
  new EventSource("/events?since=0").onmessage = ({ data }) => {
    const event = JSON.parse(data);
    if (event.type !== "message_end") return;
    const { role, content } = event.message;
    out.append(role + ": " + content.map((part) => part.text ?? "").join("") + "\\n");
  };
  document.forms[0].onsubmit = (submit) => {
    submit.preventDefault();
    const { content } = submit.target.elements;
    const body = JSON.stringify({ id: crypto.randomUUID(), content: content.value });
    fetch("/messages", { method: "POST", headers: { "content-type": "application/json" }, body });
    content.value = "";
  };
</script>`;

// Repeats the message. Replace it by a real model.
const model = scriptedBy(({ prompt }) => {
  const heard = prompt.at(-1)?.content.at(0);
  return say(`You said: ${typeof heard === "object" && "text" in heard ? heard.text : ""}`, { delayMs: 5 });
});
const harness = new Harness({
  id: "sse-server",
  storage: sqliteStore({ path: "cinch.db" }),
  agent: new Agent({ name: "echo", model }),
});
const { id: threadId } = await harness.selectOrCreateThread();

/** Streams events. The id of a durable event is its `seq`. Live events (deltas) have none, so a reconnect never asks for them. */
async function stream(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  const since = Number(request.headers["last-event-id"] ?? url.searchParams.get("since") ?? NaN);
  const closed = new AbortController();
  response.on("close", () => closed.abort());
  const session = await harness.createSession({ threadId });
  try {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const options = { signal: closed.signal, ...(since >= 0 ? { since } : {}) };
    for await (const event of session.events(options)) {
      if (event.type === "display_state_changed") continue;
      const id = "seq" in event ? `id: ${event.seq}\n` : "";
      // The iterator is bounded: for a client that stops reading, the queue does not grow; it gets a `resync` later.
      if (!response.write(`${id}data: ${JSON.stringify(event)}\n\n`)) await drained(response);
    }
  } finally {
    await session.close();
    response.end();
  }
}

const drained = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });

/** Accepts a message. If it is sent twice with the same id, it is accepted once. */
async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A page of another site can't send this type without a preflight request, which this server does not allow.
  if (request.headers["content-type"] !== "application/json") return void response.writeHead(415).end("send JSON");
  const { id, content } = (await json(request)) as { id?: string; content: string };
  const { inputId } = await harness.post({ content, delivery: "send", ...(id ? { id } : {}) });
  response.writeHead(202, { "content-type": "application/json" }).end(JSON.stringify({ inputId }));
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  const route = `${request.method} ${url.pathname}`;
  const work = async () => {
    if (route === "GET /events") return stream(request, response, url);
    if (route === "POST /messages") return post(request, response);
    const found = route === "GET /";
    response.writeHead(found ? 200 : 404, { "content-type": "text/html" }).end(found ? PAGE : "not found");
  };
  work().catch((error: unknown) => {
    const isInput = error instanceof SyntaxError || (error instanceof CinchError && error.code === "INVALID_INPUT");
    if (!response.headersSent) response.writeHead(isInput ? 400 : 500);
    response.end(error instanceof Error ? error.message : String(error));
  });
});
const wanted = process.argv.includes("--serve") ? 3000 : 0;
await new Promise<void>((resolve) => server.listen(wanted, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

if (wanted === 0) {
  await playBrowser(address);
  server.closeAllConnections();
  server.close();
  await harness.close();
} else {
  console.log(`open ${address} (Ctrl-C stops the server)`);
}
