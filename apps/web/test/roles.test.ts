import assert from "node:assert/strict";
import { defineTool } from "@cinch/core";
import { call, fail, hang, say, script } from "@cinch/testkit";
import type { BrowserContext, Page } from "playwright-core";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { servedPage, TOKEN_OF_READER } from "./served-page.ts";

const test = browserTests();

const execute = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}`,
});

type Served = Awaited<ReturnType<typeof servedPage>>;

/** A thread in which a person has said something, and the page of a caller who may only read. */
async function readersTab(context: BrowserContext, served: Served, seen: string): Promise<Page> {
  const session = await served.harness.createSession();
  await session.createThread({ title: "Read me" });
  await session.post({ content: "Go", delivery: "send" });
  const tab = await context.newPage();
  await tab.goto(`${served.url}/#token=${TOKEN_OF_READER}`);
  await tab.click(".threads li a");
  await tab.waitForSelector(seen);
  return tab;
}

/** What would be refused: only what reads is left. */
const BUTTONS = /^(Explain|Copy|Commands⌘|⋯|×|☰|Show changes)?$/;
const offered = (tab: Page) =>
  tab.evaluate(() =>
    [...document.querySelectorAll("main button, nav button, aside button")]
      .filter((button) => button.checkVisibility() && !button.matches(".call-line"))
      .map((button) => button.textContent!.trim()),
  );
const inPalette = async (tab: Page) => {
  await tab.keyboard.press("Control+k");
  const names = await tab.locator("#palette li").allTextContents();
  await tab.keyboard.press("Escape");
  return names;
};

const STATES = {
  "an answer": { model: () => script(say("Hello.")), seen: "text=Hello." },
  "a turn that runs, and a queue": { model: () => script(hang("Thinking")), seen: "text=Thinking" },
  "an approval": { model: () => script(call("execute", { command: "ls" })), seen: ".approval" },
  "a question": {
    model: () => script(call("ask_user", { question: "Which?", options: [{ label: "a" }] })),
    seen: ".question",
  },
  "a plan": { model: () => script(call("submit_plan", { title: "P", plan: "1. x" })), seen: ".plan" },
  "a failure": { model: () => script(fail(new Error("Out of order."))), seen: ".failure" },
};

for (const [name, { model, seen }] of Object.entries(STATES))
  test(`a caller who may only read is offered nothing that would be refused: ${name}`, async (context) => {
    await using served = await servedPage({ model: model(), tools: { execute }, harness: { defaultModeId: "plan" } });
    const tab = await readersTab(context, served, seen);
    if (name.includes("queue")) {
      const { id } = (await served.harness.listThreads())[0]!;
      await (await served.harness.createSession({ threadId: id })).followUp({ content: "later" });
      await tab.waitForSelector(".queue");
    }
    const wrong = (await offered(tab)).filter((text) => !BUTTONS.test(text));
    assert.deepEqual(wrong, []);
    assert.equal(await tab.locator("main :is(input, textarea, select):enabled").count(), 0);
    const commands = await inPalette(tab);
    assert.deepEqual(
      commands.filter((text) =>
        /Stop|Continue|Retry|Rename|Delete|Clone|New thread|Write|Mode|Rules|YOLO|Compact/.test(text),
      ),
      [],
    );
    // No key asks for what would be refused.
    await tab.keyboard.press("Escape");
    await tab.waitForTimeout(100);
    assert.equal(await tab.locator(".notice").count(), 0);
  });
