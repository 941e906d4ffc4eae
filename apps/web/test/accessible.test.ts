import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { defineTool } from "@cinch/core";
import { call, hang, say, script } from "@cinch/testkit";
import type { Page } from "playwright-core";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage, untilAnswerable } from "./served-page.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const test = browserTests();

const execute = defineTool({
  description: "Runs",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: () => ({ content: "ok", details: { diff: "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n" } }),
});

const MARKDOWN =
  "# Title\n\nText with `code`, **bold** and [a link](https://example.com).\n\n- one\n- [x] done\n\n```ts\nconst a = 1; // why\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted";

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What `axe` finds. It is run as a part of the test, not of the page, whose policy would refuse it. */
async function violations(tab: Page): Promise<string[]> {
  await tab.evaluate(AXE);
  const found = (await tab.evaluate("axe.run()")) as { violations: Violation[] };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

for (const colorScheme of ["light", "dark"] as const)
  for (const [size, viewport] of Object.entries({
    wide: { width: 1280, height: 800 },
    phone: { width: 360, height: 740 },
  }))
    test(`axe finds nothing in any state of the page: ${colorScheme}, ${size}`, async (context) => {
      const model = script(
        call("execute", { command: "npm test" }),
        say(MARKDOWN, { size: 50 }),
        call("ask_user", { question: "Which?", options: [{ label: "one" }, { label: "two" }] }),
        call("submit_plan", { title: "The plan", plan: MARKDOWN }),
        hang("Thinking"),
      );
      await using served = await servedPage({ model, tools: { execute }, harness: { defaultModeId: "plan" } });
      const tab = await openTab(context, served.address);
      await tab.emulateMedia({ colorScheme });
      await tab.setViewportSize(viewport);
      const check = async (state: string) => assert.deepEqual(await violations(tab), [], state);
      await check("before a thread");
      await tab.keyboard.press("Control+k");
      await tab.keyboard.type("keys");
      await tab.keyboard.press("Enter");
      await tab.waitForSelector(".key-list");
      await check("the keys");
      await tab.keyboard.press("Escape");
      await tab.setInputFiles("input[type=file]", { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
      await tab.waitForSelector(".attached li");
      await check("an attached file");
      await tab.click("[aria-label='Remove a.txt']");
      await begin(tab, "Go");
      await tab.waitForSelector(".approval");
      await check("an approval");
      await tab.click("text=Decline…");
      await check("a reason for a decline");
      await tab.click("text=Back");
      await untilAnswerable(tab);
      await tab.click(".approval >> text=Approve");
      await tab.waitForSelector(".markdown table");
      await tab.waitForSelector(".hl-keyword");
      await check("an answer");
      await tab.hover(".entry.user");
      await tab.click(".entry.user .rewind");
      await tab.waitForSelector("dialog .primary:enabled");
      await check("a rewind");
      await tab.keyboard.press("Escape");
      if (size === "phone") await tab.click("[aria-label=Details]");
      await tab.click(".side >> text=Explain");
      await tab.waitForSelector("meter");
      await check("the details");
      if (size === "phone") await tab.click("[aria-label=Details]");
      await tab.keyboard.press("Control+k");
      await check("the palette");
      await tab.keyboard.type("rules");
      await tab.keyboard.press("Enter");
      await check("the rules");
      await tab.keyboard.press("Escape");
      await begin(tab, "Next");
      await tab.waitForSelector(".question");
      await check("a question");
      await untilAnswerable(tab);
      await tab.fill(".own textarea", "two");
      await tab.click(".question >> text=Answer");
      await tab.waitForSelector(".plan");
      await check("a plan");
      await untilAnswerable(tab);
      await tab.click(".plan >> text=Approve");
      await tab.waitForSelector("text=Thinking");
      await tab.fill("#message", "queued");
      await tab.keyboard.press("Alt+Enter");
      await tab.waitForSelector(".queue");
      await check("a running turn and a queue");
    });
