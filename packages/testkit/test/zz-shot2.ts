import { startBrowser } from "./browser.ts";
const browser = await startBrowser();
const page = await browser.newPage();
page.on("console", (m) => console.log("console", m.type(), m.text()));
page.on("pageerror", (e) => console.log("pageerror", e.message));
page.on("requestfailed", (r) => console.log("failed", r.url(), r.failure()?.errorText));
await page.goto("http://127.0.0.1:4711/");
await page.waitForSelector("#message"); await page.fill("#message", "Go"); await page.keyboard.press("Enter"); await page.waitForSelector(".approval .primary"); await page.click(".approval .primary");

await page.waitForSelector(".code");
await page.waitForTimeout(2500);
console.log(await page.evaluate(() => document.querySelector(".code code")?.innerHTML.slice(0, 200)));
console.log(await page.evaluate(() => performance.getEntriesByType("resource").map((r) => r.name)));
await browser.close();
