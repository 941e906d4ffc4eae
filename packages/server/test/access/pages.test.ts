import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { ThreadRecord } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import type { Frame, Page } from "playwright-core";
import { browserTests } from "../../../testkit/test/browser.ts";
import { serving } from "../serving.ts";
import { attack, type AttackWindow } from "./page-attacks.ts";

const inBrowser = browserTests({ loopbackNames: ["evil.example"] });
const SECRET = "a secret title";
/** Answered by the machine at which the name of a page was before it was made to resolve to the server's. */
const PAGE = "/page";
const EMPTY_PAGE = '<!doctype html><meta charset="utf-8"><title>Page</title><body>';

/** How many attacks a page tries. */
const KINDS = 31;

interface Seen {
  by: string;
  method: string;
  status: number;
}

const sendPage = (_: IncomingMessage, response: ServerResponse) =>
  response.setHeader("content-type", "text/html").end(EMPTY_PAGE);

async function listening(answer: Parameters<typeof createServer>[1]) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A server that needs no token, so nothing but the site of a request protects it, and a page of another site beside it. */
async function victimAndAttacker() {
  const at = await serving({ model: script(say("hi")), limits: { requestsPerSecond: 10_000 } });
  const seen: Seen[] = [];
  const victim = await listening((request, response) => {
    if (request.url === PAGE) return sendPage(request, response);
    response.on("close", () =>
      seen.push({ by: nameOf(request), method: request.method!, status: response.statusCode }),
    );
    return at.server.node(request, response);
  });
  const attacker = await listening(sendPage);
  const session = await at.harness.createSession();
  const { id } = await session.createThread({ title: SECRET });
  const record = async (): Promise<unknown> => {
    const threads: ThreadRecord[] = await session.listThreads();
    return [threads, await session.listEvents(), await session.listInbox()];
  };
  return {
    victim: victim.port,
    attacker: attacker.port,
    threadId: id,
    seen,
    record,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([victim.close(), attacker.close()]);
      await at[Symbol.asyncDispose]();
    },
  };
}

type Stage = Awaited<ReturnType<typeof victimAndAttacker>>;

const nameOf = ({ url = "" }: IncomingMessage): string => new URL(url, "http://x").searchParams.get("by") ?? url;

/** Every kind of request that a page can cause reaches the server, and each is refused. */
async function attackFrom(frame: Page | Frame, stage: Stage, target: string): Promise<void> {
  const { threadId, seen, record } = stage;
  const before = await record();
  await frame.evaluate(attack, { target, threadId });
  const kinds = () => new Set(seen.map(({ by }) => by));
  // Beacons are sent after the page has forgotten them.
  await until(() => kinds().size >= KINDS);
  const readings = await frame.evaluate(() => (window as unknown as AttackWindow).readings);
  assert.deepEqual(
    seen.filter(({ status }) => status !== 403),
    [],
  );
  assert.deepEqual(
    readings.filter((text) => text.includes(SECRET) || text.includes("open")),
    [],
  );
  assert.deepEqual(await record(), before);
  assert.equal(kinds().size, KINDS, `only these attacks reached the server: ${[...kinds()].join(", ")}`);
}

async function until(isReached: () => boolean): Promise<void> {
  const end = Date.now() + 300_000;
  while (!isReached() && Date.now() < end) await delay(20);
}

inBrowser("a page of another site reads and changes nothing", async (context) => {
  await using stage = await victimAndAttacker();
  const page = await context.newPage();
  await page.goto(`http://evil.example:${stage.attacker}/`);
  await attackFrom(page, stage, `http://127.0.0.1:${stage.victim}`);
});

inBrowser("a page on another port of the same host reads and changes nothing", async (context) => {
  for (const host of ["127.0.0.1", "localhost"]) {
    await using stage = await victimAndAttacker();
    const page = await context.newPage();
    await page.goto(`http://${host}:${stage.attacker}/`);
    await attackFrom(page, stage, `http://${host}:${stage.victim}`);
    await page.close();
  }
});

inBrowser("a page whose name was made to resolve to this machine reads and changes nothing", async (context) => {
  await using stage = await victimAndAttacker();
  const own = `http://evil.example:${stage.victim}`;
  const page = await context.newPage();
  await page.goto(own + PAGE);
  await attackFrom(page, stage, own);
});

inBrowser("a sandboxed frame, whose origin is null, reads and changes nothing", async (context) => {
  await using stage = await victimAndAttacker();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${stage.attacker}/`);
  await page.setContent(`<iframe sandbox="allow-scripts allow-forms allow-popups" srcdoc="<body>"></iframe>`);
  const frame = page.frames()[1]!;
  assert.equal(await frame.evaluate(() => window.origin), "null");
  await attackFrom(frame, stage, `http://127.0.0.1:${stage.victim}`);
});

inBrowser("a page of the server itself may do all of that", async (context) => {
  await using stage = await victimAndAttacker();
  const own = `http://127.0.0.1:${stage.victim}`;
  const page = await context.newPage();
  await page.goto(own + PAGE);
  const title = await page.evaluate(async (threadId) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ title: "renamed" });
    await fetch(`/v1/threads/${threadId}/renameThread`, { method: "POST", headers, body });
    return (await (await fetch("/v1/threads")).json())[0].title;
  }, stage.threadId);
  assert.equal(title, "renamed");
  const typed = await context.newPage();
  await typed.goto(`${own}/v1/threads`);
  assert.match((await typed.textContent("body"))!, /renamed/);
});
