import assert from "node:assert/strict";
import { call, hang, say, script } from "@cinch/testkit";
import type { Page } from "playwright-core";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage, untilAnswerable } from "./served-page.ts";

const test = browserTests();

const focused = (tab: Page) =>
  tab.evaluate(() => {
    const { id, className, tagName } = document.activeElement!;
    return id || className || tagName;
  });
const isRunning = (tab: Page) => tab.locator(".composer >> text=Stop").isVisible();

test("Esc leaves a title, a queued message and a search as they were, and the turn goes on", async (context) => {
  await using served = await servedPage({ model: script(hang("Thinking")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector("text=Thinking");
  await tab.focus(".thread-header .title");
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("Another title");
  await tab.keyboard.press("Escape");
  assert.match(await focused(tab), /title/, "the focus returns to the title");
  assert.equal(await tab.textContent(".thread-header .title"), "Go");
  await tab.fill("#message", "later");
  await tab.keyboard.press("Alt+Enter");
  await tab.focus(".queue >> text=Edit");
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("not ");
  await tab.keyboard.press("Escape");
  await tab.waitForSelector(".queue .text >> text=/^later$/");
  assert.notEqual(await focused(tab), "BODY", "the focus is not lost");
  await tab.focus(".search input");
  await tab.keyboard.type("nowhere");
  await tab.keyboard.press("Escape");
  assert.equal(await tab.inputValue(".search input"), "");
  assert.ok(await isRunning(tab));
  assert.equal((await served.harness.listThreads())[0]!.title, "Go");
  await tab.focus("#message");
  await tab.keyboard.press("Escape");
  await tab.waitForSelector("text=Interrupted");
});

test("a title and a queued message are changed with keys alone", async (context) => {
  await using served = await servedPage({ model: script(hang("Thinking")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector("text=Thinking");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("rename");
  await tab.keyboard.press("Enter");
  // The old title is selected.
  await tab.keyboard.type("Deep thought");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".threads >> text=Deep thought");
  assert.match(await focused(tab), /title/);
  await tab.fill("#message", "later");
  await tab.keyboard.press("Alt+Enter");
  await tab.focus(".queue >> text=Edit");
  await tab.keyboard.press("Enter");
  await tab.keyboard.press("End");
  await tab.keyboard.type(" than that");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".queue >> text=later than that");
  assert.notEqual(await focused(tab), "BODY");
});

test("Page Up and Page Down read the conversation from the composer", async (context) => {
  await using served = await servedPage({
    model: script(say("A line of a long answer.\n\n".repeat(80), { size: 400 })),
  });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector("text=A line of a long answer. >> nth=79");
  const top = () => tab.evaluate(() => Math.round(document.querySelector(".conversation")!.scrollTop));
  await tab.focus("#message");
  const end = await top();
  await tab.keyboard.press("PageUp");
  await tab.waitForSelector(".to-end");
  const height = await tab.evaluate(() => document.querySelector(".conversation")!.clientHeight);
  assert.ok((await top()) < end - height / 2);
  assert.equal(await focused(tab), "message");
  await tab.keyboard.press("PageDown");
  await tab.waitForSelector(".to-end", { state: "detached" });
});

test("Enter answers a question, and Shift-Enter is a new line of the answer", async (context) => {
  const model = script(call("ask_user", { question: "Your name?" }), say("Hello."));
  await using served = await servedPage({ model });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector(".question");
  await untilAnswerable(tab);
  await tab.focus(".own textarea");
  await tab.keyboard.type("Ann");
  await tab.keyboard.press("Shift+Enter");
  await tab.keyboard.type("Smith");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Hello.");
  assert.match(JSON.stringify(model.requests.at(-1)!.prompt), /Ann\\nSmith/);
});

test("a thread that is deleted with keys leaves the focus in the list", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const session = await served.harness.createSession();
  for (const title of ["One", "Two", "Three"]) await session.createThread({ title });
  const tab = await openTab(context, served.address);
  await tab.focus("[aria-label='Delete Two']");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("[aria-label='Delete Two']", { state: "detached" });
  assert.ok(await tab.evaluate(() => document.activeElement!.closest(".threads") !== null));
});

test("on a phone Esc closes the list and the details before it stops a turn", async (context) => {
  await using served = await servedPage({ model: script(hang("Thinking")) });
  const tab = await openTab(context, served.address);
  await tab.setViewportSize({ width: 360, height: 700 });
  await begin(tab, "Go");
  await tab.waitForSelector("text=Thinking");
  for (const [button, box] of [
    ["[aria-label='Show threads']", ".list-open"],
    ["[aria-label=Details]", ".side"],
  ] as const) {
    await tab.click(button);
    await tab.waitForSelector(box);
    await tab.keyboard.press("Escape");
    await tab.waitForSelector(box, { state: "detached" });
  }
  assert.ok(await isRunning(tab));
});

/** A key that ends the input of a character, as Safari sends it: after the end of the input. */
const endComposition = (tab: Page, key: "Enter" | "Escape") =>
  tab.evaluate((name) => {
    const safari = { key: name, keyCode: 229, isComposing: false, bubbles: true, cancelable: true };
    document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", safari));
  }, key);

test("a key that ends the input of a character sends nothing, saves nothing and stops no turn, in Safari, too", async (context) => {
  const model = script(call("ask_user", { question: "Your name?" }), hang("Thinking"));
  await using served = await servedPage({ model });
  const tab = await openTab(context, served.address);
  await tab.fill("#message", "にほん");
  await endComposition(tab, "Enter");
  await tab.keyboard.type("ご");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".message.user >> text=にほんご");
  await tab.waitForSelector(".question");
  await untilAnswerable(tab);
  await tab.focus(".own textarea");
  await tab.keyboard.type("あ");
  await endComposition(tab, "Enter");
  await tab.keyboard.type("ん");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Thinking");
  assert.match(JSON.stringify(model.requests.at(-1)!.prompt), /あん/);
  await tab.focus("#message");
  await endComposition(tab, "Escape");
  await tab.focus(".thread-header .title");
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("だい");
  await endComposition(tab, "Enter");
  await endComposition(tab, "Escape");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".threads >> text=だい");
  await tab.fill(".search input", "だい");
  await endComposition(tab, "Escape");
  assert.equal(await tab.inputValue(".search input"), "だい");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("keys");
  await endComposition(tab, "Enter");
  await tab.waitForSelector(".palette-input:focus");
  await tab.keyboard.press("Escape");
  await tab.fill("#message", "later");
  await tab.keyboard.press("Alt+Enter");
  await tab.focus(".queue >> text=Edit");
  await tab.keyboard.press("Enter");
  await endComposition(tab, "Enter");
  await endComposition(tab, "Escape");
  await tab.waitForSelector(".queue textarea:focus");
  assert.ok(await isRunning(tab));
});
