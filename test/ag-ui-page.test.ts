import assert from "node:assert/strict";
import { browserTests } from "../packages/testkit/test/browser.ts";
import { servedExample } from "./served-example.ts";

const inBrowser = browserTests();

inBrowser("the page of the example ag-ui talks, approves after a reload, and shows the same again", async (context) => {
  await using at = await servedExample("ag-ui");
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(at.url);
  const send = async (text: string) => {
    await page.fill("input", text);
    await page.keyboard.press("Enter");
  };
  await send("Hi");
  await page.waitForSelector("p:has-text('Shall I deploy?')");
  await send("Yes");
  await page.waitForSelector("button:has-text('approve')");
  await page.reload();
  await page.click("button:has-text('approve')");
  await page.waitForSelector("p:has-text('Build 42 is live.')");
  const texts = ["Hi", "Hello. Shall I deploy?", "Yes", "Build 42 is live."];
  assert.deepEqual(await page.locator("p").allTextContents(), texts);
  await page.reload();
  await page.waitForSelector("p:has-text('Build 42 is live.')");
  assert.deepEqual(await page.locator("p").allTextContents(), texts);
  assert.deepEqual(errors, []);
});
