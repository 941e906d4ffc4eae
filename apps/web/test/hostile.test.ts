import assert from "node:assert/strict";
import { defineTool, memoryStore } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import type { Page } from "playwright-core";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { HOSTILE_TEXTS } from "./hostile-texts.ts";
import { begin, openTab, servedPage, untilAnswerable } from "./served-page.ts";

const test = browserTests();
const all = HOSTILE_TEXTS.join("\n\n");

/** What a browser does only if a text has become a part of the page. */
class Watch {
  readonly foreign: string[] = [];
  readonly reports: string[] = [];

  constructor(tab: Page, own: string) {
    tab.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(own) && !url.startsWith("blob:")) this.foreign.push(url);
    });
    tab.on("console", (message) => {
      if (/Content Security Policy|Trusted(HTML|Script| Type)/i.test(message.text())) this.reports.push(message.text());
    });
  }
}

/** Elements that no text of a model or a tool may make. */
const FORBIDDEN =
  "script:not([src^='/main']), iframe, object, embed, base, style, form[action], img:not(.picture), video, audio, svg, math, marquee, body[onload]";

const inspected = (tab: Page) =>
  tab.evaluate((forbidden) => {
    const links = [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].map(({ href }) => href);
    const handlers = [...document.querySelectorAll("*")].flatMap((element) =>
      [...element.attributes]
        .filter(({ name }) => name.startsWith("on"))
        .map(({ name }) => `${element.tagName} ${name}`),
    );
    const elements = [...document.querySelectorAll(`#app :is(${forbidden})`)].map(({ outerHTML }) => outerHTML);
    return { links: links.filter((href) => !/^https?:\/\//.test(href)), handlers, elements };
  }, FORBIDDEN);

const show = defineTool({
  description: "Shows",
  category: "edit",
  input: z.object({ path: z.string() }),
  execute: () => ({ content: all, details: { diff: `--- a\n+++ b\n@@ -1 +1 @@\n+${HOSTILE_TEXTS.join("\n+")}` } }),
});
const fail = defineTool({
  description: "Fails",
  category: "read",
  input: z.object({ path: z.string() }),
  execute: () => {
    throw new Error(all);
  },
});
const guarded = defineTool({
  description: "Asks",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: () => "",
});

test("no text of a model, a tool, a file name or a title becomes a part of the page, or makes it load anything", async (context) => {
  assert.ok(HOSTILE_TEXTS.length >= 60);
  const model = script(
    call(["show", { path: HOSTILE_TEXTS[1] }, "a"], ["fail", { path: HOSTILE_TEXTS[0] }, "b"]),
    say(all, { size: 200 }),
    call("guarded", { command: all }),
    call("ask_user", {
      question: all,
      options: HOSTILE_TEXTS.slice(0, 10).map((label) => ({ label, description: label })),
    }),
    call("submit_plan", { title: HOSTILE_TEXTS[2], plan: all }),
    say("The end."),
  );
  await using served = await servedPage({
    model,
    tools: { show, fail, guarded },
    storage: memoryStore(),
    harness: { permissions: [{ category: "edit", policy: "allow" }], defaultModeId: "plan" },
  });
  const tab = await openTab(context, served.address);
  const watch = new Watch(tab, served.url);
  const check = async (where: string) => {
    await untilAnswerable(tab);
    const found = await inspected(tab);
    const { foreign, reports } = watch;
    const nothing = { links: [], handlers: [], elements: [], foreign: [], reports: [], problems: [] };
    assert.deepEqual({ ...found, foreign, reports, problems: tab.problems }, nothing, where);
  };
  await begin(tab, all);
  await tab.waitForSelector("text=zero >> nth=0");
  await tab.waitForFunction(() => document.querySelectorAll(".message.assistant").length >= 2);
  await tab.locator(".call-line[aria-expanded=false] >> nth=1").click();
  await tab.locator(".call-line[aria-expanded=false] >> nth=0").click();
  await tab.waitForSelector(".call .diff");
  await tab.waitForSelector(".call .output");
  await check("an answer and the results of calls");
  const { id } = (await served.harness.listThreads())[0]!;
  const session = await served.harness.createSession({ threadId: id });
  await session.renameThread({ title: HOSTILE_TEXTS[1]! });
  await tab.waitForSelector(".thread-header .title:has-text('onerror')");
  await check("a title");
  await begin(tab, "ask");
  await tab.waitForSelector(".approval");
  await check("an approval");
  await tab.click(".approval >> text=Approve");
  await tab.waitForSelector(".question");
  await check("a question");
  await tab.fill(".own textarea", "go on");
  await tab.click(".question >> text=Answer");
  await tab.waitForSelector(".plan");
  await check("a plan");
});

test("an approval shows every character of a command that a reader could not see", async (context) => {
  const command = "echo safe\u202E\u200B\u0007 # rm -rf /";
  await using served = await servedPage({ model: script(call("guarded", { command })), tools: { guarded } });
  const tab = await openTab(context, served.address);
  await begin(tab, "go");
  await tab.waitForSelector(".approval");
  assert.equal(await tab.textContent(".will-run"), "echo safe⟨U+202E⟩⟨U+200B⟩⟨U+0007⟩ # rm -rf /");
});

test("the browser reports a picture from elsewhere, and refuses HTML", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await openTab(context, served.address);
  const watch = new Watch(tab, served.url);
  const refused = await tab.evaluate(() => {
    const picture = document.createElement("img");
    picture.src = "https://evil.example/pixel.png";
    document.querySelector("#app")!.append(picture);
    try {
      document.querySelector("#app")!.innerHTML = "<b>x</b>";
      return false;
    } catch {
      return true;
    }
  });
  assert.ok(refused);
  while (watch.reports.length < 2) await tab.waitForTimeout(20);
  assert.equal((await inspected(tab)).elements.length, 1);
});
