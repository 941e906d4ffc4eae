import assert from "node:assert/strict";
import { say, script } from "@cinch/testkit";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { COPIED_MS, holdTimers } from "./held-timers.ts";
import { begin, openTab, servedPage, TOKEN } from "./served-page.ts";

const HOST = "machine.example";
const test = browserTests({ loopbackNames: [HOST] });

test("a machine of the same network is used without TLS: messages are sent, and an answer is copied", async (context) => {
  await using served = await servedPage({ model: script(say("Hello."), say("Again.")), hosts: [HOST] });
  await holdTimers(context, COPIED_MS);
  const tab = await openTab(context, `http://${HOST}:${served.port}/#token=${TOKEN}`);
  assert.equal(await tab.evaluate(() => isSecureContext), false);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  await begin(tab, "More");
  await tab.waitForSelector("text=Again.");
  await tab.hover(".entry.assistant >> nth=0");
  await tab.click(".entry.assistant >> nth=0 >> text=Copy");
  await tab.waitForSelector(".actions >> text=Copied");
  await tab.focus("#message");
  await tab.keyboard.press("Control+v");
  await tab.waitForFunction(() => document.querySelector<HTMLTextAreaElement>("#message")!.value === "Hello.");
  // A header that browsers heed with TLS alone.
  assert.deepEqual(
    tab.problems.filter((problem) => !problem.includes("Cross-Origin-Opener-Policy")),
    [],
  );
});
