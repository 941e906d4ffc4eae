import assert from "node:assert/strict";
import { browserTests } from "../packages/testkit/test/browser.ts";
import { servedExample } from "./served-example.ts";

const inBrowser = browserTests();

inBrowser(
  "the page of the example use-chat talks, approves in a tab, and shows it again after a reload",
  async (context) => {
    await using at = await servedExample("use-chat");
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(at.url);
    const send = async (text: string) => {
      await page.fill("input", text);
      await page.click("button:has-text('Send')");
    };
    await send("Hi");
    await page.waitForSelector("p:has-text('Shall I deploy?')");
    await page.waitForSelector("button:has-text('Send'):enabled");
    await send("Yes");
    await page.waitForSelector("button:has-text('Approve')");
    await page.reload();
    await page.click("button:has-text('Approve')");
    await page.waitForSelector("p:has-text('Build 42 is live.')");
    await page.waitForSelector("section[data-state='output-available']");
    const texts = await page.locator("p").allTextContents();
    assert.deepEqual(texts, ["Hi", "Hello. Shall I deploy?", "Yes", "Build 42 is live."]);
    await page.reload();
    await page.waitForSelector("p:has-text('Build 42 is live.')");
    assert.deepEqual(await page.locator("p").allTextContents(), texts);
    assert.deepEqual(errors, []);
  },
);
