import assert from "node:assert/strict";
import { hang, say, script } from "@cinch/testkit";
import type { Page } from "playwright-core";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

/** Requests to this path arrive when the function that it returns is called. */
async function holdPosts(tab: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await tab.route(path, async (route) => {
    if (route.request().method() === "POST") await promise;
    await route.continue();
  });
  return resolve;
}

test("a thread that begins late, or is cloned late, does not take a user away from where they write by then", async (context) => {
  await using served = await servedPage({ model: script(say("One.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=One.");
  const first = tab.url();
  await tab.keyboard.press("Control+Shift+o");
  await tab.waitForSelector("text=What shall we do?");
  const create = await holdPosts(tab, "**/v1/threads");
  await begin(tab, "Second");
  await tab.click(".threads li a");
  await tab.waitForSelector("text=One.");
  await tab.keyboard.type("half a ");
  create();
  await tab.waitForSelector(".threads .title >> text=Second");
  await tab.waitForFunction(() => !JSON.stringify(sessionStorage).includes("Second"));
  await tab.keyboard.type("thought");
  assert.equal(tab.url(), first);
  assert.equal(await tab.inputValue("#message"), "half a thought");

  const clone = await holdPosts(tab, "**/cloneThread");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("clone");
  await tab.keyboard.press("Enter");
  await tab.click(".threads li a >> text=Second");
  await tab.waitForSelector(".message.user >> text=Second");
  const second = tab.url();
  clone();
  await tab.waitForSelector(".threads li:nth-child(3)");
  assert.equal(tab.url(), second);
  assert.deepEqual(tab.problems, []);
});

test("what Enter chooses in the palette stays the same while commands come and go", async (context) => {
  await using served = await servedPage({ model: script(say("One."), hang("Half")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=One.");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.press("ArrowDown");
  const chosen = () => tab.locator("[aria-selected=true]").innerText();
  const before = await chosen();
  const [thread] = await served.harness.listThreads();
  const other = await served.harness.createSession({ threadId: thread!.id });
  await other.post({ content: "Second", delivery: "send" });
  await tab.waitForSelector(".threads .runs");
  assert.equal(await chosen(), before);
  await tab.fill(".palette-input", "stop");
  await tab.waitForSelector("[aria-selected=true] >> text=Stop");
});
