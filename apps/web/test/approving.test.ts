import assert from "node:assert/strict";
import { defineTool } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import type { Page } from "playwright-core";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage, untilAnswerable } from "./served-page.ts";

const test = browserTests();

const commands: string[] = [];
const execute = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({ command: z.string() }),
  suggest: ({ command }) => `${command.split(" ")[0]} *`,
  matches: (pattern, { command }) => (command.startsWith(pattern.slice(0, -1)) ? "all" : "none"),
  execute: async ({ command }) => {
    commands.push(command);
    return `ran ${command}`;
  },
});
const isAsked = async (tab: Page, text: string) => {
  await tab.waitForSelector(`.will-run >> text=${text}`);
  await untilAnswerable(tab);
};
const focused = (tab: Page) => tab.evaluate(() => document.activeElement?.id || document.activeElement?.className);

test("a call is declined with a reason, run with other arguments, and approved, all by keyboard, and the focus is never lost", async (context) => {
  commands.length = 0;
  const model = script(
    call("execute", { command: "rm -rf build" }),
    call("execute", { command: "make al" }),
    call("execute", { command: "ls" }),
    say("Done."),
  );
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Build");
  await tab.waitForSelector(".will-run >> text=rm -rf build");
  assert.equal(await focused(tab), "message");
  await tab.keyboard.press("F8");
  await tab.focus(".approval >> text=Decline…");
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("not that");
  await tab.keyboard.press("Escape");
  // Back at the choices, and the turn still waits.
  assert.equal(await focused(tab), "approval");
  await tab.focus(".approval >> text=Decline…");
  await tab.keyboard.press("Enter");
  await tab.keyboard.type("keep the build");
  await tab.keyboard.press("Tab");
  await tab.keyboard.press("Enter");
  await isAsked(tab, "make al");
  // In the next question, or in the composer if there was a moment without one.
  assert.match((await focused(tab))!, /^(asked|message)$/);
  await tab.focus(".approval >> text=Edit…");
  await tab.keyboard.press("Enter");
  await tab.fill(".answer textarea", '{ "command": "make all" }');
  await tab.focus(".answer >> text=Run with these");
  await tab.keyboard.press("Enter");
  await isAsked(tab, "ls");
  await tab.focus(".approval >> text=Approve");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Done.");
  assert.equal(await focused(tab), "message");
  assert.deepEqual(commands, ["make all", "ls"]);
  assert.match(JSON.stringify(model.requests[1]!.prompt), /keep the build/);
  assert.deepEqual(tab.problems, []);
});

test("arguments that are not JSON are refused, and nothing runs", async (context) => {
  commands.length = 0;
  await using served = await servedPage({ model: script(call("execute", { command: "ls" })), tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "List");
  await tab.click(".approval >> text=Edit…");
  await tab.fill(".answer textarea", "{ command: ls");
  await tab.click(".answer >> text=Run with these");
  await tab.waitForSelector(".notice.error >> text=The arguments are not JSON");
  assert.equal(await tab.inputValue(".answer textarea"), "{ command: ls");
  assert.deepEqual(commands, []);
});

test("what is always allowed is a pattern or a category: it asks no more, and the rules show it", async (context) => {
  commands.length = 0;
  const model = script(
    call("execute", { command: "npm test" }),
    call("execute", { command: "npm run build" }),
    call("execute", { command: "make" }),
    call("execute", { command: "curl example.com" }),
    say("Done."),
  );
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Build");
  await tab.click(".approval >> text=Always allow npm *");
  await isAsked(tab, "make");
  await tab.click(".approval >> text=Always allow every “execute” tool");
  await tab.waitForSelector("text=Done.");
  assert.deepEqual(commands, ["npm test", "npm run build", "make", "curl example.com"]);
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("rules");
  await tab.keyboard.press("Enter");
  const grants = tab.locator("dialog .files li");
  assert.deepEqual(await grants.allTextContents(), ["allow: execute npm *", "allow: execute "]);
});

test("the rules that are shown are those of the thread, also when another person changes them", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")), tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("rules");
  await tab.keyboard.press("Enter");
  const policyIs = (policy: string) =>
    tab.waitForFunction(
      (wanted) => document.querySelector<HTMLSelectElement>("[aria-label='Policy for execute']")?.value === wanted,
      policy,
    );
  await tab.selectOption("[aria-label='Policy for execute']", "deny");
  const [thread] = await served.harness.listThreads();
  const other = await served.harness.createSession({ threadId: thread!.id });
  while (other.getPermissionRules().length === 0) await tab.waitForTimeout(10);
  await other.setPermissionForCategory({ category: "execute", policy: "ask" });
  await other.grantSessionTool({ toolName: "execute", match: "npm *" });
  await tab.waitForSelector("dialog .files li >> text=allow: execute npm *");
  await policyIs("ask");
  await tab.selectOption("[aria-label='Policy for execute']", "allow");
  while (other.getPermissionRules()[0]?.policy !== "allow") await tab.waitForTimeout(10);
  await policyIs("allow");
  assert.deepEqual(tab.problems, []);
});

test("questions are answered with an option, with several, or in the user's own words", async (context) => {
  const options = [{ label: "red" }, { label: "green" }, { label: "blue" }];
  const model = script(
    call("ask_user", { question: "One?", options }),
    call("ask_user", { question: "Some?", options, multiple: true }),
    call("ask_user", { question: "Free?" }),
    say("Done."),
  );
  await using served = await servedPage({ model });
  const tab = await openTab(context, served.address);
  await begin(tab, "Paint");
  await tab.check(".question >> text=green");
  await tab.click(".question >> text=Answer >> nth=-1");
  await tab.waitForSelector("legend >> text=Some?");
  await untilAnswerable(tab);
  await tab.check(".question >> text=red");
  await tab.check(".question >> text=blue");
  await tab.click(".question button");
  await tab.waitForSelector("legend >> text=Free?");
  await untilAnswerable(tab);
  await tab.fill(".own textarea", "like the sky");
  await tab.click(".question button");
  await tab.waitForSelector("text=Done.");
  const results = JSON.stringify(model.requests.at(-1)!.prompt);
  assert.match(results, /green.*red.*blue.*like the sky/);
});

test("a double click answers one question, and so does a key that is pressed twice; letters answer only where the focus is", async (context) => {
  commands.length = 0;
  const model = script(
    call("execute", { command: "first" }),
    call("execute", { command: "second" }),
    call("execute", { command: "third" }),
    say("Done."),
  );
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await isAsked(tab, "first");
  await tab.keyboard.type("y");
  assert.equal(await tab.inputValue("#message"), "y", "the composer has the focus, so it gets the letter");
  // As soon as the next question is there, the second click comes.
  await tab.evaluate(() => {
    const approve = () => document.querySelector<HTMLElement>(".approval .primary");
    const next = new MutationObserver(() => {
      if (!document.querySelector(".will-run")?.textContent?.includes("second")) return;
      next.disconnect();
      approve()!.click();
    });
    next.observe(document.body, { subtree: true, childList: true, characterData: true });
    approve()!.click();
  });
  await isAsked(tab, "second");
  assert.deepEqual(commands, ["first"]);
  await tab.keyboard.press("F8");
  await tab.keyboard.press("y");
  await tab.keyboard.press("y");
  await isAsked(tab, "third");
  assert.deepEqual(commands, ["first", "second"]);
  await tab.keyboard.press("F8");
  await tab.keyboard.press("y");
  await tab.waitForSelector("text=Done.");
  assert.deepEqual(commands, ["first", "second", "third"]);
});
