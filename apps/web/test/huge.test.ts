import assert from "node:assert/strict";
import { defineTool } from "@cinch/core";
import { call, finish, parts, say, script, scriptedBy } from "@cinch/testkit";
import type { Page } from "playwright-core";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

/** Texts that take a reader of Markdown for ever, or more stack than there is. */
const ENDLESS: Readonly<Record<string, string>> = {
  "a line of a million letters": "a".repeat(1_000_000),
  "quotes in quotes": `${"> ".repeat(20_000)}x`,
  "lists in lists": Array.from({ length: 1_500 }, (_, depth) => `${" ".repeat(2 * depth)}- x`).join("\n"),
  "lists in one line": `${"- ".repeat(5_000)}x`,
  "signs of emphasis": "_a".repeat(30_000),
  "signs of emphasis in many paragraphs": `${"_a".repeat(2_000)}\n\n`.repeat(30),
  "emphasis in emphasis": `${"*".repeat(3_000)}a${"*".repeat(3_000)}`,
  "less emphasis in emphasis": `${"*".repeat(1_900)}a${"*".repeat(1_900)}`,
  "what may be an address of mail": `${"a".repeat(50_000)}@`,
  "thousands of links": "[a](https://b.example) ".repeat(5_000),
  "a table of 150,000 cells": `${"|a".repeat(3_000)}|\n${"|-".repeat(3_000)}|\n${`${"|x".repeat(3_000)}|\n`.repeat(50)}`,
  "a list of 20,000 items": "- x\n".repeat(20_000),
  "code of 60,000 brackets": `\`\`\`ts\n${"({[".repeat(19_000)}\n\`\`\``,
};

/** Whether keys are answered: the page has not stopped. */
async function answersKeys(tab: Page): Promise<void> {
  await tab.keyboard.press("Control+k");
  await tab.waitForSelector(".palette-input:focus");
  await tab.keyboard.press("Escape");
}

for (const [name, text] of Object.entries(ENDLESS))
  test(`a text neither freezes the page nor ends it: ${name}`, async (context) => {
    await using served = await servedPage({ model: script(say(text, { size: 100_000 }), say("After it.")) });
    const session = await served.harness.createSession();
    const { id } = await session.createThread({ title: "Endless" });
    await session.sendMessage({ content: "Go" });
    await session.sendMessage({ content: "On" });
    const tab = await openTab(context, served.address);
    await tab.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
    await tab.waitForSelector("text=After it.");
    await tab.waitForFunction(() => document.querySelectorAll(".message").length === 4);
    await answersKeys(tab);
    assert.deepEqual(tab.problems, []);
  });

test("quotes in quotes are drawn as deep as a reader can follow, and the rest is text", async (context) => {
  await using served = await servedPage({ model: script(say(`${"> ".repeat(30)}deep`)) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector("blockquote >> text=deep");
  assert.equal(await tab.locator("blockquote").count(), 20);
});

test("a result and a question of a million characters are shown, and the page goes on", async (context) => {
  const line = "b".repeat(1_000_000);
  const diff = `--- a\n+++ b\n@@ -1 +1 @@\n+${line.slice(0, 300_000)}`;
  const reader = (result: string | { content: string; details: { diff: string } }) =>
    defineTool({
      description: "Prints",
      category: "read",
      input: z.object({ path: z.string() }),
      execute: async () => result,
    });
  const [print, read] = [reader({ content: line, details: { diff } }), reader(line)];
  const model = script(
    call(["print", { path: "x" }], ["read", { path: "y" }]),
    call("ask_user", { question: line.slice(0, 100_000) }),
  );
  await using served = await servedPage({ model, tools: { print, read } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector(".question");
  for (const at of [0, 1]) await tab.click(`.call-line >> nth=${at}`);
  await tab.waitForSelector(".call .output");
  await tab.waitForSelector(".call .diff");
  await answersKeys(tab);
  assert.deepEqual(tab.problems, []);
});

test("an address of mail is a text, and what looks like HTML keeps its lines", async (context) => {
  const text = "Write to ann@shop.example or <bob@shop.example>.\n\n<table>\n<tr>\n</table>";
  await using served = await servedPage({ model: script(say(text)) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector(".markdown >> text=</table>");
  assert.equal(await tab.innerText(".markdown > p >> nth=0"), "Write to ann@shop.example or bob@shop.example.");
  assert.equal(await tab.innerText(".markdown > p >> nth=1"), "<table>\n<tr>\n</table>");
});

test("what a reader unfolds in an answer that streams stays unfolded when it is complete", async (context) => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const model = scriptedBy(
    () =>
      async function* () {
        yield { type: "reasoning-start", id: "r" };
        yield { type: "reasoning-delta", id: "r", delta: "First I look." };
        yield { type: "reasoning-end", id: "r" };
        yield { type: "text-start", id: "t" };
        yield { type: "text-delta", id: "t", delta: "It is " };
        await ended;
        yield { type: "text-delta", id: "t", delta: "forty-two." };
        yield* parts({ type: "text-end", id: "t" }, finish("stop"))({ prompt: [] }) as Iterable<never>;
      },
  );
  await using served = await servedPage({ model });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.click(".reasoning summary");
  end();
  await tab.waitForSelector(".actions >> nth=1", { state: "attached" });
  assert.ok(await tab.evaluate(() => document.querySelector<HTMLDetailsElement>(".reasoning")!.open));
  assert.match((await tab.textContent(".message.assistant"))!, /It is forty-two\./);
});
