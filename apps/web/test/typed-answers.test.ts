import assert from "node:assert/strict";
import { defineTool } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage, untilAnswerable } from "./served-page.ts";

const test = browserTests();

const commands: string[] = [];
const execute = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: async ({ command }) => {
    commands.push(command);
    return `ran ${command}`;
  },
});

test("what was typed for a question is there again after a look at another thread, and after a reload", async (context) => {
  const model = script(call("ask_user", { question: "Which?" }), say("Done."));
  await using served = await servedPage({ model });
  const tab = await openTab(context, served.address);
  await begin(tab, "Ask me");
  await tab.fill(".question textarea", "The second");
  await tab.keyboard.press("Control+Shift+o");
  await tab.waitForSelector("text=What shall we do?");
  assert.equal(await tab.inputValue("#message"), "", "the question still waits");
  await tab.click(".threads li a");
  await tab.waitForSelector(".question");
  assert.equal(await tab.inputValue(".question textarea"), "The second");
  await tab.focus(".question textarea");
  await tab.keyboard.press("End");
  await tab.keyboard.type(" one");
  await tab.reload();
  await tab.waitForSelector(".question");
  assert.equal(await tab.inputValue(".question textarea"), "The second one");
  await tab.focus(".question textarea");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Done.");
  assert.match(JSON.stringify(model.requests[1]!.prompt), /The second one/);
  assert.equal(await tab.inputValue("#message"), "");
  await tab.waitForFunction(() => !JSON.stringify(sessionStorage).includes("The second one"));
  assert.deepEqual(tab.problems, []);
});

test("arguments that were edited, and a reason, are there again after a reload, and an answer that is refused stays", async (context) => {
  commands.length = 0;
  await using served = await servedPage({
    model: script(call("execute", { command: "ls" }), say("Done.")),
    tools: { execute },
  });
  const tab = await openTab(context, served.address);
  await begin(tab, "List");
  await tab.click(".approval >> text=Edit…");
  await tab.fill(".answer textarea", '{ "command": "ls -l" }');
  await tab.click(".answer >> text=Back");
  await tab.click(".approval >> text=Decline…");
  assert.equal(await tab.inputValue(".answer textarea"), "");
  await tab.fill(".answer textarea", "Not now");
  await tab.reload();
  await tab.click(".approval >> text=Decline…");
  assert.equal(await tab.inputValue(".answer textarea"), "Not now");
  await tab.click(".answer >> text=Back");
  await tab.click(".approval >> text=Edit…");
  assert.equal(await tab.inputValue(".answer textarea"), '{ "command": "ls -l" }');
  await tab.route("**/respondToToolApproval", (route) =>
    route.fulfill({
      status: 507,
      headers: { "cinch-protocol": "1" },
      json: { error: { code: "STORE_FULL", message: "The disk is full." } },
    }),
  );
  await tab.click(".answer >> text=Run with these");
  await tab.waitForSelector(".notice.error >> text=The disk is full.");
  assert.equal(await tab.inputValue(".answer textarea"), '{ "command": "ls -l" }');
  await tab.unroute("**/respondToToolApproval");
  await tab.click(".answer >> text=Run with these");
  await tab.waitForSelector("text=Done.");
  assert.deepEqual(commands, ["ls -l"]);
  assert.deepEqual(tab.problems, []);
});

test("another person answers while one types: the text and the next letters are in the composer, and answer nothing", async (context) => {
  commands.length = 0;
  const model = script(call(["execute", { command: "ls" }], ["execute", { command: "rm -rf build" }]), say("Done."));
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Build");
  await tab.click(".approval >> text=Decline…");
  await tab.keyboard.type("not");
  const [thread] = await served.harness.listThreads();
  const other = await served.harness.createSession({ threadId: thread!.id });
  await other.respondToToolApproval({ decision: "approve" });
  await tab.waitForSelector(".will-run >> text=rm -rf build");
  await untilAnswerable(tab);
  await tab.keyboard.type(" yet, please");
  assert.equal(await tab.inputValue("#message"), "not yet, please");
  assert.equal(await tab.locator(".answer").count(), 0);
  assert.deepEqual(commands, ["ls"]);
  assert.deepEqual(tab.problems, []);
});

test("an answer that came too late is in the composer", async (context) => {
  const model = script(call("ask_user", { question: "Which?" }), say("Done."));
  await using served = await servedPage({ model });
  const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
  const { promise: mayArrive, resolve: arrive } = Promise.withResolvers<void>();
  await context.route("**/respondToToolSuspension", async (route) => {
    sent();
    await mayArrive;
    await route.continue();
  });
  const tab = await openTab(context, served.address);
  await begin(tab, "Ask me");
  await tab.fill(".question textarea", "The second one");
  await tab.keyboard.press("Enter");
  await isSent;
  const [thread] = await served.harness.listThreads();
  const other = await served.harness.createSession({ threadId: thread!.id });
  await other.respondToToolSuspension({ resumeData: "The first one" });
  await tab.waitForSelector("text=Done.");
  assert.equal(await tab.inputValue("#message"), "", "it may still be the answer");
  arrive();
  await tab.waitForSelector(".notice.error");
  assert.equal(await tab.inputValue("#message"), "The second one");
});
