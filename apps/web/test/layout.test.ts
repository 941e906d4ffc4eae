import assert from "node:assert/strict";
import { Agent, defineTool } from "@cinch/core";
import { call, hang, say, script, scriptedBy } from "@cinch/testkit";
import type { Page } from "playwright-core";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 320, height: 640 } };
const DIFF = `--- a/x\n+++ b/x\n@@ -1,1 +1,90 @@\n${"+a line of a long change\n".repeat(90)}`;
const LINES = Array.from({ length: 60 }, (_, line) => `echo "line ${line}" | tee -a log.txt`).join("\n");
const execute = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}`,
});
const write = defineTool({
  description: "Writes a file",
  category: "edit",
  input: z.object({ path: z.string() }),
  preview: async () => ({ diff: DIFF }),
  execute: async () => "written",
});

const ASKED = {
  "a long command": { step: call("execute", { command: LINES }), answer: ".choices .primary" },
  "a long change": { step: call("write", { path: "src/session.ts" }), answer: ".choices .primary" },
  "many options": {
    step: call("ask_user", {
      question: "Which?",
      options: Array.from({ length: 20 }, (_, at) => ({ label: `Option ${at}`, description: "Described" })),
    }),
    answer: ".question .primary",
  },
  "a long plan": {
    step: call("submit_plan", { title: "The plan", plan: "1. One step of many.\n".repeat(80) }),
    answer: ".choices .primary",
  },
};

const boxOf = async (tab: Page, selector: string) => (await tab.locator(selector).first().boundingBox())!;
type Box = Awaited<ReturnType<typeof boxOf>>;
const isApart = (a: Box, b: Box) =>
  a.y + a.height <= b.y + 1 || b.y + b.height <= a.y + 1 || a.x + a.width <= b.x + 1 || b.x + b.width <= a.x + 1;
const sideways = (tab: Page) => tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);

for (const [size, viewport] of Object.entries(SIZES))
  for (const [name, { step, answer }] of Object.entries(ASKED))
    test(`the answers are in sight however much is asked: ${name}, ${size}`, async (context) => {
      const harness = { defaultModeId: "plan" };
      await using served = await servedPage({ model: script(step), tools: { execute, write }, harness });
      const tab = await openTab(context, served.address);
      await tab.setViewportSize(viewport);
      await begin(tab, "Go");
      await tab.waitForSelector(".asked");
      const [button, asked] = [await boxOf(tab, answer), await boxOf(tab, ".asked")];
      assert.ok(button.y >= asked.y && button.y + button.height <= asked.y + asked.height, JSON.stringify(button));
      assert.equal(await sideways(tab), 0);
    });

test("on a phone the composer is in sight however much is asked, queued and typed", async (context) => {
  const model = script(call("write", { path: "src/session.ts" }));
  await using served = await servedPage({ model, tools: { write } });
  const tab = await openTab(context, served.address);
  await tab.setViewportSize(SIZES.phone);
  await begin(tab, "Go");
  await tab.waitForSelector(".asked");
  await tab.waitForFunction(() => location.hash.startsWith("#/t/"));
  const threadId = await tab.evaluate(() => location.hash.slice(4));
  const session = await served.harness.createSession();
  await session.switchThread({ threadId });
  for (let nth = 0; nth < 12; nth++) await session.followUp({ content: `And then ${nth}` });
  await tab.waitForSelector(".queue li >> nth=11", { state: "attached" });
  await tab.fill("#message", "a line\n".repeat(40));
  const [composer, asked, button] = [
    await boxOf(tab, ".composer"),
    await boxOf(tab, ".asked"),
    await boxOf(tab, ".choices .primary"),
  ];
  assert.ok(composer.y + composer.height <= SIZES.phone.height, JSON.stringify(composer));
  assert.ok(asked.y >= 0 && button.y >= asked.y && button.y + button.height <= asked.y + asked.height);
});

test("the buttons of the composer are in one row on a phone, also while a turn runs", async (context) => {
  await using served = await servedPage({ model: script(hang("Thinking")) });
  const tab = await openTab(context, served.address);
  await tab.setViewportSize(SIZES.phone);
  await begin(tab, "Go");
  await tab.waitForSelector("text=Thinking");
  await tab.fill("#message", "more");
  const rows = await tab
    .locator(".composer-row button")
    .evaluateAll((buttons) => buttons.map((button) => Math.round(button.getBoundingClientRect().y)));
  assert.equal(rows.length, 4);
  assert.equal(new Set(rows).size, 1, rows.join(" "));
});

test("the approval of a change names the file, with characters that can't be seen as their code points", async (context) => {
  const model = script(call("write", { path: "src/\u202Esession.ts" }));
  await using served = await servedPage({ model, tools: { write } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  assert.equal(await tab.textContent(".approval .changed"), "src/⟨U+202E⟩session.ts");
});

test("calls that wait are a list like those that have ended", async (context) => {
  const commands = ["a", "b", "c"].map((command): [string, unknown] => ["execute", { command }]);
  await using served = await servedPage({ model: script(call(...commands)), tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector(".call.waiting >> nth=2");
  const [first, second] = [await boxOf(tab, ".call >> nth=0"), await boxOf(tab, ".call >> nth=1")];
  assert.ok(second.y - first.y - first.height < 12);
});

test("a subagent stands below the one that started it, at any depth, and its siblings beside each other", async (context) => {
  const agentOf = (depth: number): Agent =>
    new Agent({
      name: `level${depth}`,
      model: depth === 5 ? script(hang("Deep")) : script(call("task", { agent: `level${depth + 1}`, prompt: "Go on" })),
      tools: {},
      maxSubagentDepth: 6,
      ...(depth === 5 ? {} : { subagents: [agentOf(depth + 1)] }),
    });
  const tasks = ["one", "two"].map((prompt): [string, unknown] => ["task", { agent: "level1", prompt }]);
  const agent = new Agent({ name: "dev", model: script(call(...tasks)), subagents: [agentOf(1)], maxSubagentDepth: 6 });
  await using served = await servedPage({ model: script(), harness: { modes: [{ id: "build", agent }] } });
  const tab = await openTab(context, served.address);
  await tab.setViewportSize(SIZES.wide);
  await begin(tab, "Go");
  await tab.waitForFunction(() => document.querySelectorAll(".subagents li").length === 10);
  const depths = await tab.evaluate(() =>
    [...document.querySelectorAll(".subagents strong")].map((name) => {
      let depth = 0;
      for (let at = name.closest(".subagents"); at; at = at.parentElement!.closest(".subagents")) depth++;
      return `${name.textContent} ${depth}`;
    }),
  );
  const branch = [1, 2, 3, 4, 5].map((depth) => `level${depth} ${depth}`);
  assert.deepEqual(depths, [...branch, ...branch]);
});

for (const [size, viewport] of Object.entries(SIZES))
  test(`a notice, and a server that is away, cover neither header, composer, the last message nor details: ${size}`, async (context) => {
    const served = await servedPage({ model: script(say("Hello.")) });
    const tab = await openTab(context, served.address);
    await tab.setViewportSize(viewport);
    await begin(tab, "Hi");
    await tab.waitForSelector("text=Hello.");
    const tooLarge = { name: "huge.bin", mimeType: "text/plain", buffer: Buffer.alloc(10_000_001) };
    await tab.setInputFiles("input[type=file]", tooLarge);
    await tab.waitForSelector(".notice.error");
    await served[Symbol.asyncDispose]();
    await tab.waitForSelector(".connection");
    const used = [
      await boxOf(tab, ".thread-header"),
      await boxOf(tab, ".composer"),
      await boxOf(tab, ".message >> nth=-1"),
    ];
    if (size === "wide") used.push(await boxOf(tab, ".side"));
    const shown = [await boxOf(tab, ".connection"), await boxOf(tab, ".notice")];
    for (const one of shown) for (const other of used) assert.ok(isApart(one, other), JSON.stringify({ one, other }));
    assert.ok(isApart(shown[0]!, shown[1]!));
  });

test("a call that runs is one line until it prints something", async (context) => {
  const tasks = Array.from({ length: 8 }, (_, at): [string, unknown] => ["task", { agent: "a", prompt: `Part ${at}` }]);
  const worker = new Agent({ name: "a", model: scriptedBy(() => hang("Searching")), tools: {} });
  const agent = new Agent({ name: "dev", model: script(call(...tasks)), subagents: [worker] });
  await using served = await servedPage({ model: script(), harness: { modes: [{ id: "build", agent }] } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector(".call.running >> nth=3");
  assert.equal(await tab.locator(".call-details").count(), 0);
});

test("the title of the tab names the thread and says how many questions wait", async (context) => {
  const model = script(say("Hello."), call("execute", { command: "make" }));
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  assert.equal(await tab.title(), "Cinch");
  await begin(tab, "Build the shop");
  await tab.waitForFunction(() => document.title === "Build the shop · Cinch");
  await begin(tab, "Go");
  await tab.waitForFunction(() => document.title === "(1) Build the shop · Cinch");
});
