import assert from "node:assert/strict";
import { say, script } from "@cinch/testkit";
import type { Page } from "playwright-core";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

const refuse = (tab: Page, path: RegExp) =>
  tab.route(path, (route) =>
    route.request().method() === "GET"
      ? route.fulfill({
          status: 500,
          headers: { "cinch-protocol": "1" },
          json: { error: { code: "INTERNAL", message: "A row is broken." } },
        })
      : route.continue(),
  );

for (const [name, path, says] of [
  ["of threads", /\/v1\/threads(\?|$)/, "The threads can't be loaded: A row is broken."],
  ["of what waits", /\/v1\/pending$/, "What waits for you can't be loaded: A row is broken."],
] as const)
  test(`a list ${name} that can't be loaded is said, with a button that loads it, and threads can be used`, async (context) => {
    await using served = await servedPage({ model: script(say("One."), say("Two.")) });
    const tab = await openTab(context, served.address);
    await begin(tab, "First");
    await tab.waitForSelector("text=One.");
    await refuse(tab, path);
    await tab.reload();
    await tab.waitForSelector(`.threads [role=alert] >> text=${says}`);
    await begin(tab, "Second");
    await tab.waitForSelector("text=Two.");
    await tab.keyboard.press("Control+Shift+o");
    await tab.waitForSelector("text=What shall we do?");
    await begin(tab, "A new thread");
    await tab.waitForSelector(".message.user >> text=A new thread");
    await tab.unroute(path);
    // Without the threads, what waits is not known either.
    const retry = tab.locator(".threads [role=alert] button");
    for (let left = await retry.count(); left > 0; left--) await retry.first().click();
    await tab.waitForSelector(".threads li >> text=A new thread");
    assert.equal(await tab.locator(".threads [role=alert]").count(), 0);
    assert.deepEqual(tab.problems, []);
  });
