import { defineTool, type HarnessConfig } from "@cinch/core";
import { call, say, script, type ScriptedModel } from "@cinch/testkit";
import type { Browser, Page } from "playwright-core";
import * as z from "zod";
import { newContext } from "../../../packages/testkit/test/browser.ts";
import { pictureFont } from "./picture-font.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 320, height: 640 };

/** What a browser is asked to show, and how. */
export interface PictureState {
  model: () => ScriptedModel;
  look: { colorScheme: "light" | "dark"; viewport: typeof WIDE };
  arrange: (tab: Page) => Promise<unknown>;
  harness?: Partial<HarnessConfig>;
}

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

const ANSWER = `## What was wrong

A session without an end counted as **expired**: \`null < now\` is true.

1. \`expired()\` checks for it first.
2. The test covers guests.

| case | before | now |
|---|---|---|
| guest | out | in |
| ended | out | out |

\`\`\`ts
return session.expiresAt < now;
\`\`\`
`;

const TODOS = [
  { content: "Find out why", activeForm: "Finding out why", status: "completed" },
  { content: "Run the tests", activeForm: "Running the tests", status: "in_progress" },
  { content: "Write it down", activeForm: "Writing it down", status: "pending" },
];

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

const working = () =>
  script(
    call("write_todos", { todos: TODOS }),
    call("read", { path: "src/session.ts" }),
    call("edit", { path: "src/session.ts" }),
    call("execute", { command: "npm test -- session" }),
  );
const atApproval = async (tab: Page) => {
  await begin(tab, "Guests are logged out at once. Find out why, and fix it.");
  await tab.waitForSelector(".approval");
  await tab.waitForSelector(".threads .mark.waits", { state: "attached" });
};
const atAnswer = async (tab: Page) => {
  await begin(tab, "What was wrong?");
  await tab.waitForSelector(".hl-keyword");
};

/** The states of the page that are kept as pictures. */
export const PICTURE_STATES: Readonly<Record<string, PictureState>> = {
  welcome: { model: () => script(), look: { colorScheme: "light", viewport: WIDE }, arrange: async () => undefined },
  approval: { model: working, look: { colorScheme: "light", viewport: WIDE }, arrange: atApproval },
  "approval-dark": { model: working, look: { colorScheme: "dark", viewport: WIDE }, arrange: atApproval },
  "answer-phone": {
    model: () => script(say(ANSWER)),
    look: { colorScheme: "light", viewport: PHONE },
    arrange: atAnswer,
  },
  "plan-phone-dark": {
    model: () =>
      script(call("submit_plan", { title: "Keep sessions in the database", plan: "1. Add a table.\n2. Read it." })),
    look: { colorScheme: "dark", viewport: PHONE },
    harness: { defaultModeId: "plan" },
    arrange: async (tab) => {
      await begin(tab, "Plan it");
      await tab.waitForSelector(".plan");
    },
  },
  palette: {
    model: () => script(say(ANSWER)),
    look: { colorScheme: "light", viewport: WIDE },
    arrange: async (tab) => {
      await atAnswer(tab);
      await tab.keyboard.press("Control+k");
    },
  },
};

/** A style for pictures that are compared: what changes from run to run, or from machine to machine, is not in them. */
export const COMPARABLE = `${pictureFont()} time, .call-line .state { visibility: hidden !important; }`;

/** Shows a state in a tab, and returns its picture. `css` is added to the style of the page. */
export async function pictureOf(browser: Browser, state: PictureState, css: string): Promise<Buffer> {
  const { model, look, harness = {}, arrange } = state;
  await using served = await servedPage({ model: model(), tools, harness });
  const context = await newContext(browser, { ...look, reducedMotion: "reduce", bypassCSP: true });
  try {
    const tab = await openTab(context, served.address);
    await tab.addStyleTag({ content: css });
    await tab.evaluate(() => document.fonts.load("16px Kept"));
    await arrange(tab);
    await tab.waitForTimeout(100);
    return await tab.screenshot({ animations: "disabled", caret: "hide" });
  } finally {
    await context.close();
  }
}
