/** The page of the built packages in a real browser, at a server in this process. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { built } from "../built.mjs";
import { served } from "./served.mjs";

const root = process.env.CINCH_ROOT ?? join(import.meta.dirname, "../../..");
const { startBrowser } = await import(pathToFileURL(join(root, "packages/testkit/test/browser.ts")).href);

/** What each tab measures, from its beginning. */
function observe() {
  const seen = { gaps: [], tasks: [] };
  let last = performance.now();
  const frame = (now) => {
    seen.gaps.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.tasks.push(duration);
  }).observe({ type: "longtask" });
  /** Forgets what was before. */
  seen.reset = () => {
    seen.gaps.length = seen.tasks.length = 0;
  };
  globalThis.seen = seen;
}

export async function pageAt(options) {
  const { webPage } = await built("../apps/web");
  const host = await served({ ...options, page: await webPage() });
  const browser = await startBrowser();
  const url = `http://127.0.0.1:${host.port}/`;
  return {
    ...host,
    /** A tab of a browser that has never been here. */
    async tab(hash = "") {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      const tab = await context.newPage();
      await tab.addInitScript(observe);
      await tab.goto(url + hash);
      return tab;
    },
    close: async () => {
      await browser.close();
      await host.close();
    },
  };
}

/** How often the deepest frame gap and the longest task were, since the last reset. A browser reports tasks from 50 ms on. */
export const observed = (tab) =>
  tab.evaluate(() => {
    const gaps = globalThis.seen.gaps.toSorted((a, b) => a - b);
    return {
      p99GapMs: gaps[Math.floor(gaps.length * 0.99)] ?? 0,
      frames: gaps.length,
      longestTaskMs: Math.max(0, ...globalThis.seen.tasks),
    };
  });

/** Fills a thread with `messages` messages of people and of the agent, by turns. */
export async function filled(harness, messages) {
  const session = await harness.createSession();
  const { id } = await session.createThread({ title: "Long" });
  for (let turn = 0; turn < messages / 2; turn++) await session.sendMessage({ content: `Question ${turn}` });
  return { id, session };
}
