import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { Agent, Harness } from "@cinch/core";
import { createServer } from "@cinch/server";
import { say, scriptedBy } from "@cinch/testkit";
import { build } from "esbuild";
import { browserTests } from "../../testkit/test/browser.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "cinch-runtimes-"));
const agent = new Agent({ name: "a", model: scriptedBy(() => say("Hello from afar.", { size: 4 })) });
const harness = new Harness({ id: "test", agent });
const server = createServer({ harness });
/** The server, and a page of the same origin. */
const site = createHttpServer((request, response) => {
  if (request.url !== "/") return void server.node(request, response);
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><title>Page</title>");
});
let url = "";
/** The client, as `cinch.connect`. */
let bundle = "";

before(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "../src/index.ts")],
    bundle: true,
    format: "iife",
    globalName: "cinch",
    conditions: ["@cinch/source"],
    write: false,
  });
  bundle = outputFiles[0]!.text;
});
after(async () => {
  rmSync(folder, { recursive: true });
  await server.close({ drainMs: 100 });
  site.closeAllConnections();
  site.close();
  await harness.close();
});

/** Sends a message, and says what the display shows then. */
const talk = () => `(async () => {
  const client = cinch.connect({ url: ${JSON.stringify(url)} });
  const session = await client.createSession();
  await session.createThread();
  const seen = [];
  session.subscribe(({ type }) => seen.push(type));
  const { reason } = await session.sendMessage({ content: "Hi" });
  const { messages, status } = session.getDisplayState();
  await client.close();
  return [reason, status, messages.at(-1).content[0].text, seen.includes("message_update")].join(", ");
})()`;
const SAID = "complete, idle, Hello from afar., true";

const browserTest = browserTests();

browserTest("the client runs in a browser, and in a worker of a page", async (context) => {
  const page = await context.newPage();
  await page.goto(url);
  await page.addScriptTag({ content: bundle });
  assert.equal(await page.evaluate(talk()), SAID);
  const source = `${bundle};${talk()}.then(postMessage, (error) => postMessage(String(error)))`;
  const inWorker = `new Promise((resolve) => {
    const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(source)}])));
    worker.onmessage = ({ data }) => resolve(data);
  })`;
  assert.equal(await page.evaluate(inWorker), SAID);
});

test("the client runs in a worker of Node", async () => {
  const source = `${bundle};${talk()}.then((said) => require("node:worker_threads").parentPort.postMessage(said))`;
  const worker = new Worker(source, { eval: true });
  const said = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await worker.terminate();
  assert.equal(said, SAID);
});

test("the client runs in Node 20, if there is one, and lets the process end", async (t) => {
  const found = await oldNode();
  if (!found) return t.skip("there is no Node 20 on PATH");
  const file = join(folder, "talk.cjs");
  writeFileSync(file, `${bundle};${talk()}.then(console.log)`);
  const { stdout } = await run(found, [file], { timeout: 300_000 });
  assert.equal(stdout.trim(), SAID);
});

async function oldNode(): Promise<string | undefined> {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    const node = join(directory, "node");
    if (existsSync(node) && (await run(node, ["--version"])).stdout.startsWith("v20.")) return node;
  }
  return undefined;
}
