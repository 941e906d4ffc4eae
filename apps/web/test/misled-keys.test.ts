import assert from "node:assert/strict";
import { hang, say, script } from "@cinch/testkit";
import type { BrowserContext } from "playwright-core";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

/** Commands to this path that are sent after `hold` arrive at `release`. It is called before the page makes requests: later, some would pass. */
async function commandGate(context: BrowserContext, path: string) {
  let gate: PromiseWithResolvers<void> | undefined;
  await context.route(path, async (route) => {
    if (route.request().method() === "POST") await gate?.promise;
    await route.continue();
  });
  return { hold: () => void (gate = Promise.withResolvers()), release: () => gate!.resolve() };
}

test("a thread that begins late, or is cloned late, does not take a user away from where they write by then", async (context) => {
  await using served = await servedPage({ model: script(say("One.")) });
  const creations = await commandGate(context, "**/v1/threads");
  const clones = await commandGate(context, "**/cloneThread");
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=One.");
  const first = tab.url();
  await tab.keyboard.press("Control+Shift+o");
  await tab.waitForSelector("text=What shall we do?");
  creations.hold();
  await begin(tab, "Second");
  await tab.click(".threads li a");
  await tab.waitForSelector("text=One.");
  await tab.keyboard.type("half a ");
  creations.release();
  await tab.waitForSelector(".threads .title >> text=Second");
  await tab.waitForFunction(() => !JSON.stringify(sessionStorage).includes("Second"));
  await tab.keyboard.type("thought");
  assert.equal(tab.url(), first);
  assert.equal(await tab.inputValue("#message"), "half a thought");

  clones.hold();
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("clone");
  await tab.keyboard.press("Enter");
  await tab.click(".threads li a >> text=Second");
  await tab.waitForSelector(".message.user >> text=Second");
  const second = tab.url();
  clones.release();
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
