import assert from "node:assert/strict";
import { hang, say, script, scriptedBy } from "@cinch/testkit";
import type { BrowserContext, Page, Request } from "playwright-core";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { holdTimers, passTime, UNDO_MS } from "./held-timers.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

/** Answers with the last message of the user. */
const echo = () =>
  scriptedBy(({ prompt }) => {
    const parts = prompt.findLast(({ role }) => role === "user")!.content as readonly { text?: string }[];
    return say(`Echo of ${parts.map(({ text }) => text).join("")}.`);
  });

const composerHas = (tab: Page, text: string) =>
  tab.waitForFunction((wanted) => document.querySelector<HTMLTextAreaElement>("#message")?.value === wanted, text);
const sentTexts = (tab: Page) => tab.locator(".message.user .typed").allTextContents();

/** Messages reach the server or not, and their answers never arrive. */
async function losePosts(tab: Page, { isAccepted }: { isAccepted: boolean }): Promise<void> {
  let isFirst = true;
  await tab.route("**/post", async (route) => {
    if (isAccepted && isFirst) {
      isFirst = false;
      await route.fetch();
    }
    await route.abort();
  });
}

/** As if the page had asked before the message arrived, and could not read what happened since. */
async function hideAcceptance(tab: Page): Promise<void> {
  for (const path of ["**/resultOf*", "**/listEvents*"])
    await tab.route(path, (route) =>
      route.fulfill({
        status: 400,
        headers: { "cinch-protocol": "1" },
        json: { error: { code: "INVALID_INPUT", message: "The thread has accepted no such input." } },
      }),
    );
}

/** The composer with this text is sent, and the page is reloaded before the server has answered. */
async function sendAndReload(tab: Page, text: string): Promise<void> {
  const tried = tab.waitForEvent("requestfailed", (request) => request.url().endsWith("/post"));
  await begin(tab, text);
  await tried;
  assert.equal(await tab.inputValue("#message"), "", "what is on its way is not in the composer");
  await tab.reload();
}

test("messages that were sent while the server was away are in the composer after a reload, and are sent one by one", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  await losePosts(tab, { isAccepted: false });
  await begin(tab, "Second");
  await sendAndReload(tab, "Third");
  await composerHas(tab, "Second\nThird");
  await tab.unroute("**/post");
  await tab.focus("#message");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Echo of Third.");
  assert.deepEqual(await sentTexts(tab), ["First", "Second", "Third"]);
  await tab.reload();
  await tab.waitForSelector("text=Echo of Third.");
  assert.equal(await tab.inputValue("#message"), "");
  assert.deepEqual(tab.problems, []);
});

test("a message whose answer was lost is posted once, although it is sent again after a reload", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  await losePosts(tab, { isAccepted: true });
  await hideAcceptance(tab);
  await sendAndReload(tab, "Second");
  await tab.waitForSelector("text=Echo of Second.");
  await composerHas(tab, "Second");
  await tab.unroute("**/post");
  await tab.focus("#message");
  await tab.keyboard.press("Enter");
  await composerHas(tab, "");
  await begin(tab, "Third");
  await tab.waitForSelector("text=Echo of Third.");
  assert.deepEqual(await sentTexts(tab), ["First", "Second", "Third"]);
});

test("a message that was edited after a reload is another one, and is posted", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  await losePosts(tab, { isAccepted: true });
  await hideAcceptance(tab);
  await sendAndReload(tab, "Second");
  await composerHas(tab, "Second");
  await tab.unroute("**/post");
  await tab.fill("#message", "Second, and more");
  assert.equal(await tab.inputValue("#message"), "Second, and more");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Echo of Second, and more.");
  assert.deepEqual(await sentTexts(tab), ["First", "Second", "Second, and more"]);
});

test("a message that the server has accepted leaves the composer after a reload, while its turn still runs", async (context) => {
  await using served = await servedPage({ model: script(say("Echo of First."), hang("Half an answer")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  await losePosts(tab, { isAccepted: true });
  await sendAndReload(tab, "Second");
  await tab.waitForSelector("text=Half an answer");
  await composerHas(tab, "");
});

test("a message that arrives after the reload of its page leaves the composer then", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  let sent: { id: string; content: string } | undefined;
  await tab.route("**/post", (route) => {
    sent ??= route.request().postDataJSON() as typeof sent;
    return route.abort();
  });
  await sendAndReload(tab, "Second");
  await composerHas(tab, "Second");
  const [thread] = await served.harness.listThreads();
  const there = await served.harness.createSession({ threadId: thread!.id });
  await there.post({ id: sent!.id, content: sent!.content, delivery: "send" });
  await tab.waitForSelector("text=Echo of Second.");
  await composerHas(tab, "");
});

test("a message whose acceptance the events do not show leaves the composer when its result is known", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  await losePosts(tab, { isAccepted: true });
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  await tab.route("**/listEvents*", (route) =>
    route.fulfill({ status: 400, headers: { "cinch-protocol": "1" }, json: {} }),
  );
  await tab.route("**/resultOf*", async (route) => {
    await mayAnswer;
    await route.continue();
  });
  await sendAndReload(tab, "Second");
  await composerHas(tab, "Second");
  answer();
  await composerHas(tab, "");
});

test("a first message that was lost is in the composer after a reload, and begins one thread", async (context) => {
  for (const isAccepted of [false, true]) {
    await using served = await servedPage({ model: echo() });
    const tab = await openTab(context, served.address);
    await losePosts(tab, { isAccepted });
    await sendAndReload(tab, "First");
    await composerHas(tab, "First");
    await tab.unroute("**/post");
    await tab.focus("#message");
    await tab.keyboard.press("Enter");
    await tab.waitForSelector("text=Echo of First.");
    assert.deepEqual(await sentTexts(tab), ["First"]);
    assert.equal((await served.harness.listThreads()).length, 1);
    await tab.close();
  }
});

test("what was sent and what was typed since without a thread, while the server was away, begin one thread", async (context) => {
  for (const last of ["typed", "sent"]) {
    await using served = await servedPage({ model: echo() });
    const tab = await openTab(context, served.address);
    const isCreation = (request: Request) => request.method() === "POST" && request.url().endsWith("/v1/threads");
    await tab.route("**/v1/threads", (route) => (isCreation(route.request()) ? route.abort() : route.fallback()));
    const tried = tab.waitForEvent("requestfailed", isCreation);
    await begin(tab, "First");
    await tried;
    await tab.fill("#message", "Second");
    if (last === "sent") await tab.keyboard.press("Enter");
    await tab.reload();
    await composerHas(tab, "First\nSecond");
    await tab.unroute("**/v1/threads");
    await tab.focus("#message");
    await tab.keyboard.press("Enter");
    await tab.waitForSelector("text=/Echo of First\\s+Second\\./");
    assert.deepEqual(await sentTexts(tab), ["First\nSecond"]);
    assert.equal((await served.harness.listThreads()).length, 1);
    await tab.goto(served.address);
    await composerHas(tab, "");
    await tab.close();
  }
});

test("a message that is on its way is not in the composer of a thread that is left and entered again", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  await losePosts(tab, { isAccepted: false });
  const tried = tab.waitForEvent("requestfailed", (request) => request.url().endsWith("/post"));
  await begin(tab, "Second");
  await tried;
  await tab.keyboard.press("Control+Shift+o");
  await tab.waitForSelector("text=What shall we do?");
  await tab.click(".threads a");
  await tab.waitForSelector("text=Echo of First.");
  assert.equal(await tab.inputValue("#message"), "");
  await tab.unroute("**/post");
  await tab.waitForSelector("text=Echo of Second.");
  assert.equal(await tab.inputValue("#message"), "");
});

test("two tabs at one thread keep a text each: what one sends is not taken from the other", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  const other = await openTab(context, tab.url());
  await other.waitForSelector("text=Echo of First.");
  await tab.fill("#message", "Third");
  const threadId = (await served.harness.listThreads())[0]!.id;
  await (await served.harness.createSession({ threadId })).post({ content: "Second", delivery: "send" });
  await other.waitForSelector("text=Echo of Second.");
  assert.equal(await other.inputValue("#message"), "", "what one types is not in the other");
  await other.fill("#message", "half a thought");
  await begin(tab, "Third");
  await tab.waitForSelector("text=Echo of Third.");
  await other.reload();
  await composerHas(other, "half a thought");
  await tab.reload();
  await tab.waitForSelector("text=Echo of Third.");
  assert.equal(await tab.inputValue("#message"), "");
});

test("what was typed last in a tab that is closed is in the next one, although another tab has sent a message", async (context) => {
  await using served = await servedPage({ model: echo() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  const other = await openTab(context, tab.url());
  await tab.fill("#message", "Second");
  await other.fill("#message", "half a thought");
  await tab.focus("#message");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Echo of Second.");
  await other.close();
  const next = await openTab(context, tab.url());
  await composerHas(next, "half a thought");
});

/** What browsers do with a storage that is full, and with one that the user does not allow. */
const fillStorage = (context: BrowserContext) =>
  context.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
    };
  });
const blockStorage = (context: BrowserContext) =>
  context.addInitScript(() => {
    const get = () => {
      throw new DOMException("Access is denied for this document.", "SecurityError");
    };
    for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get });
  });

for (const [name, break_] of [
  ["full", fillStorage],
  ["blocked", blockStorage],
] as const)
  test(`with a storage that is ${name} the page works, and sends what is typed`, async (context) => {
    await break_(context);
    await using served = await servedPage({ model: echo() });
    const tab = await openTab(context, served.address);
    await begin(tab, "First");
    await tab.waitForSelector("text=Echo of First.");
    await begin(tab, "Second");
    await tab.waitForSelector("text=Echo of Second.");
    await tab.fill("#message", "half a thought");
    await tab.keyboard.press("Control+Shift+o");
    await tab.waitForSelector("text=What shall we do?");
    await tab.click(".threads a");
    await composerHas(tab, "half a thought");
    assert.deepEqual(tab.problems, []);
  });

test("what was typed in a thread is removed with it", async (context) => {
  await using served = await servedPage({ model: echo() });
  await holdTimers(context, UNDO_MS);
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=Echo of First.");
  await tab.fill("#message", "half a thought");
  const kept = () =>
    tab.evaluate(() =>
      [localStorage, sessionStorage].flatMap((storage) => Object.values(storage)).includes("half a thought"),
    );
  assert.ok(await kept());
  await tab.hover(".threads li");
  await tab.click(".threads li > button");
  await tab.waitForSelector("text=No thread yet.");
  assert.ok(await kept(), "until it can't be undone, nothing is removed");
  await passTime(tab);
  await tab.waitForFunction(() => !JSON.stringify([localStorage, sessionStorage]).includes("half a thought"));
});
