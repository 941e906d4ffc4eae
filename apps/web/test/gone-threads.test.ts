import assert from "node:assert/strict";
import { say, script } from "@cinch/testkit";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

test("a page whose thread is deleted elsewhere says so, and what is typed there can begin another", async (context) => {
  await using served = await servedPage({ model: script(say("The first answer.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=The first answer.");
  await tab.fill("#message", "typed");
  const [thread] = await served.harness.listThreads();
  await served.harness.deleteThread({ threadId: thread!.id });
  await tab.waitForSelector(".notice.error >> text=This thread was deleted elsewhere.");
  await tab.waitForSelector("text=What shall we do?");
  assert.equal(new URL(tab.url()).hash, "");
  assert.equal(await tab.inputValue("#message"), "typed");
  assert.deepEqual(tab.problems, []);
});

test("a thread that can't be opened, and was left meanwhile, does not close the one that is shown", async (context) => {
  await using served = await servedPage({ model: script(say("The first answer."), say("The second answer.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=The first answer.");
  const { hash } = new URL(tab.url());
  const asked = Promise.withResolvers<() => Promise<void>>();
  await tab.route("**/threads/thread_gone/*", (route) => asked.resolve(() => route.continue()));
  await tab.evaluate(() => void (location.hash = "#/t/thread_gone"));
  const answer = await asked.promise;
  await tab.evaluate((shown) => void (location.hash = shown), hash);
  await tab.waitForSelector("text=The first answer.");
  const refused = tab.waitForResponse("**/threads/thread_gone/*");
  await answer();
  assert.equal((await refused).status(), 404);
  await begin(tab, "Second");
  await tab.waitForSelector("text=The second answer.");
  assert.equal(new URL(tab.url()).hash, hash);
  assert.equal(await tab.locator(".notice.error").count(), 0);
  assert.deepEqual(tab.problems, []);
});
