import assert from "node:assert/strict";
import { defineTool } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import type { BrowserContext, Page } from "playwright-core";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage, TOKEN } from "./served-page.ts";

const test = browserTests();

const execute = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}`,
});

/** What a test has changed in a tab. */
interface Changed {
  shown: string[];
  lastNotification: EventTarget;
  /** What the tab does in a minute. */
  inAMinute: Set<() => void>;
}

/** A tab that a test can hide: a browser without a screen shows all of them. Notifications are collected. */
async function hideableTab(context: BrowserContext, address: string): Promise<Page & { problems: string[] }> {
  await context.addInitScript(() => {
    const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout];
    const inAMinute = new Set<() => void>();
    const timers = new Map<number, () => void>();
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      if (ms !== 60_000) return set(run, ms);
      inAMinute.add(run);
      timers.set(-timers.size - 1, run);
      return -timers.size;
    }) as typeof setTimeout;
    globalThis.clearTimeout = ((id: number) => {
      if (timers.has(id)) inAMinute.delete(timers.get(id)!);
      clear(id);
    }) as typeof clearTimeout;
    Object.assign(globalThis, { inAMinute });
  });
  const tab = await openTab(context, address);
  await tab.evaluate(() => {
    const shown: string[] = [];
    class Collected extends EventTarget {
      static readonly permission = "granted";
      constructor(title: string, { body }: { body: string }) {
        super();
        shown.push(`${title}: ${body}`);
        Object.assign(globalThis, { lastNotification: this });
      }
      close() {}
    }
    Object.assign(globalThis, { Notification: Collected, shown });
  });
  return tab;
}

async function setVisible(tab: Page, isVisible: boolean): Promise<void> {
  await tab.evaluate((visible) => {
    Object.defineProperty(document, "visibilityState", { value: visible ? "visible" : "hidden", configurable: true });
    Object.defineProperty(document, "hidden", { value: !visible, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isVisible);
}

const notificationsOf = (tab: Page) => tab.evaluate(() => (globalThis as unknown as Changed).shown);

const afterAMinute = (tab: Page) =>
  tab.evaluate(() => {
    for (const run of (globalThis as unknown as Changed).inAMinute) run();
  });

async function streamsOf(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return Number(/^cinch_streams_open (\d+)$/m.exec(await response.text())![1]);
}

/** Rejects after five minutes: only the end of a wait that hangs. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const limit = Date.now() + 300_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < limit, `In five minutes it has not become true: ${String(isSo)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const untilStreams = (url: string, count: number) => until(async () => (await streamsOf(url)) === count);

test("hidden tabs let go of their streams after a minute, but one, which notifies; a tab that is shown again is up to date", async (context) => {
  const model = script(say("Hello."), call("execute", { command: "make" }), say("Built."));
  await using served = await servedPage({ model, tools: { execute } });
  const first = await hideableTab(context, served.address);
  await begin(first, "Hi");
  await first.waitForSelector("text=Hello.");
  const tabs = [first];
  for (let more = 0; more < 2; more++) tabs.push(await hideableTab(context, first.url()));
  await untilStreams(served.url, 3);
  for (const tab of tabs) await setVisible(tab, false);
  assert.equal(await streamsOf(served.url), 3);
  for (const tab of tabs) await afterAMinute(tab);
  await untilStreams(served.url, 1);
  const [{ id } = { id: "" }] = await served.harness.listThreads();
  const session = await served.harness.createSession({ threadId: id });
  await session.post({ content: "Build it", delivery: "send" });
  const notified = async () => (await Promise.all(tabs.map(notificationsOf))).flat();
  await until(async () => (await notified()).length > 0);
  assert.deepEqual(await notified(), ["Hi: execute waits for you"]);
  // Of the others none has heard of it.
  const keeper = (await Promise.all(tabs.map(notificationsOf))).findIndex((shown) => shown.length > 0);
  const others = tabs.filter((_, at) => at !== keeper);
  for (const tab of others) assert.equal(await tab.locator(".approval").count(), 0);
  // Another one takes over when the keeper goes.
  await tabs[keeper]!.close();
  await untilStreams(served.url, 1);
  for (const tab of others) await setVisible(tab, true);
  for (const tab of others) await tab.waitForSelector(".approval");
  await untilStreams(served.url, 2);
  assert.deepEqual(
    tabs.flatMap(({ problems }) => problems),
    [],
  );
});

test("nothing is notified while a tab of the page is shown, and a notification leads to its thread", async (context) => {
  const model = script(say("Hello."), call("execute", { command: "make" }), call("execute", { command: "again" }));
  await using served = await servedPage({ model, tools: { execute } });
  const shown = await hideableTab(context, served.address);
  await begin(shown, "Hi");
  await shown.waitForSelector("text=Hello.");
  const hidden = await hideableTab(context, served.url);
  await setVisible(hidden, false);
  await begin(shown, "Build it");
  await shown.waitForSelector(".approval");
  await hidden.waitForFunction(() => document.title === "(1) Cinch");
  assert.deepEqual(await notificationsOf(hidden), []);
  await setVisible(shown, false);
  const [asked] = await served.harness.pendingApprovals();
  const session = await served.harness.createSession({ threadId: asked!.threadId });
  await session.respondToToolApproval({ decision: "approve" });
  await until(async () => (await notificationsOf(hidden)).length > 0);
  await setVisible(hidden, true);
  await hidden.evaluate(() => (globalThis as unknown as Changed).lastNotification.dispatchEvent(new Event("click")));
  await hidden.waitForSelector(".will-run >> text=again");
});
