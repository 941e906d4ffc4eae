import assert from "node:assert/strict";
import { memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { say, scriptedBy } from "@cinch/testkit";
import type { Page } from "playwright-core";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { freePort } from "../../../packages/testkit/test/free-port.ts";
import { openTab, servedPage } from "./served-page.ts";

const test = browserTests();

const asked = (tab: Page) => tab.locator(".message.user .typed").allTextContents();
const isShown = (tab: Page, text: string) => tab.waitForSelector(`.message.user >> text="${text}"`);
const questions = (from: number, to: number, word = "Question") =>
  Array.from({ length: to - from + 1 }, (_, at) => `${word} ${from + at}`);

test("while a long thread goes on, older messages that were loaded lose none after them, and show none that a rewind reverted", async (context) => {
  await using served = await servedPage({ model: scriptedBy(() => say("Yes.")) });
  const session = await served.harness.createSession();
  const { id } = await session.createThread({ title: "Long" });
  const ask = async (contents: readonly string[]) => {
    for (const content of contents) await session.sendMessage({ content });
  };
  await ask(questions(1, 130));
  const tab = await openTab(context, served.address);
  await tab.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
  await isShown(tab, "Question 130");
  await tab.click("text=Show older messages");
  await isShown(tab, "Question 6");
  await ask(questions(131, 133));
  await isShown(tab, "Question 133");
  assert.deepEqual(await asked(tab), questions(6, 133));

  const { messages } = session.getDisplayState();
  const last = messages.find(({ content }) => JSON.stringify(content).includes("Question 120"))!;
  await session.rewind({ toSeq: last.seq - 1 });
  await tab.waitForSelector('text="Question 120"', { state: "detached" });
  await ask(questions(1, 100, "Again"));
  await isShown(tab, "Again 100");
  assert.deepEqual(await asked(tab), questions(1, 100, "Again"));
  await tab.click("text=Show older messages");
  await isShown(tab, "Question 100");
  assert.deepEqual(await asked(tab), [...questions(95, 119), ...questions(1, 100, "Again")]);
  assert.deepEqual(tab.problems, []);
});

test("no message is missing when the page was away for more messages than it shows", async (context) => {
  const data = new MemoryData();
  const port = await freePort();
  const serve = (options: { port?: number } = {}) =>
    servedPage({ model: scriptedBy(() => say("Yes.")), storage: memoryStore(data), ...options });
  const first = await serve({ port });
  const session = await first.harness.createSession();
  const { id: threadId } = await session.createThread({ title: "Long" });
  for (const content of questions(1, 105)) await session.sendMessage({ content });
  const tab = await openTab(context, first.address);
  await tab.evaluate((hash) => (location.hash = hash), `#/t/${threadId}`);
  await isShown(tab, "Question 105");
  await tab.click("text=Show older messages");
  await isShown(tab, "Question 1");
  await first[Symbol.asyncDispose]();
  {
    await using elsewhere = await serve();
    const there = await elsewhere.harness.createSession({ threadId });
    for (const content of questions(106, 215)) await there.sendMessage({ content });
  }
  await using _ = await serve({ port });
  await isShown(tab, "Question 215");
  // What is drawn in between decides whether the older ones are still joined to the newer ones. None may be missing among them.
  const { length } = await asked(tab);
  assert.deepEqual(await asked(tab), questions(216 - length, 215));
  if (length === 215) return;
  await tab.click("text=Show older messages");
  await isShown(tab, `Question ${215 - length}`);
  assert.deepEqual(await asked(tab), questions(216 - length - 25, 215));
});
