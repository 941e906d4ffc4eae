/** Takes the pictures of the page that the README shows. Given a folder, also those of the page on a phone. */
import { statSync } from "node:fs";
import process from "node:process";
import { defineTool } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { begin, openTab, servedPage } from "../apps/web/test/served-page.ts";
import { startBrowser } from "../packages/testkit/test/browser.ts";

const MOST_BYTES = 150_000;
const [folder] = process.argv.slice(2);

const DIFF = `--- a/src/session.ts
+++ b/src/session.ts
@@ -41,6 +41,8 @@
 export function expired(session: Session, now: number): boolean {
-  return session.expiresAt < now;
+  if (session.expiresAt === null) return false;
+  // A session is valid up to its last millisecond.
+  return session.expiresAt < now;
 }
`;

const tools = {
  read: defineTool({
    description: "Reads a file",
    category: "read",
    input: z.object({ path: z.string() }),
    execute: async ({ path }) => `The text of ${path}.`,
  }),
  edit: defineTool({
    description: "Edits a file",
    category: "read",
    input: z.object({ path: z.string() }),
    execute: async ({ path }) => ({ content: `Edited ${path}.`, details: { diff: DIFF } }),
  }),
  execute: defineTool({
    description: "Runs a command",
    category: "execute",
    input: z.object({ command: z.string() }),
    execute: async ({ command }) => `ran ${command}`,
  }),
};

const model = script(
  say("Sessions live in `src/session.ts`, and the cookie is set by `src/login.ts`."),
  call("read", { path: "src/session.ts" }),
  call("read", { path: "test/session.test.ts" }),
  call("edit", { path: "src/session.ts" }),
  say("A session without an end counted as **expired**: `null < now` is true. `expired()` now checks for it first."),
  call("execute", { command: "npm test -- session" }),
  say("All 14 tests pass."),
);

await using served = await servedPage({ model, tools });
const browser = await startBrowser();
const shots = [
  { file: "docs/page-light.png", colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { file: "docs/page-dark.png", colorScheme: "dark", viewport: { width: 1280, height: 800 } },
  ...(folder === undefined
    ? []
    : (["light", "dark"] as const).map((colorScheme) => ({
        file: `${folder}/phone-${colorScheme}.png`,
        colorScheme,
        viewport: { width: 360, height: 720 },
      }))),
] as const;
let address: string | undefined;
for (const { file, ...look } of shots) {
  const context = await browser.newContext(look);
  const tab = await openTab(context, served.address);
  if (address === undefined) {
    await begin(tab, "Where are sessions kept?");
    await tab.waitForSelector("text=is set by");
    await begin(tab, "Guests are logged out at once. Find out why, and fix it.");
    await tab.waitForSelector("text=counted as");
    await begin(tab, "Run the tests.");
    address = tab.url();
  } else await tab.goto(address);
  await tab.waitForSelector(".approval");
  await tab.waitForSelector(".threads .mark.waits", { state: "attached" });
  await tab.screenshot({ path: file, animations: "disabled", caret: "hide" });
  const { size } = statSync(file);
  console.log(`${file}: ${size} bytes`);
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, at most ${MOST_BYTES}.`);
  await context.close();
}
await browser.close();
