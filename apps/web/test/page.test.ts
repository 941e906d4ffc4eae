import assert from "node:assert/strict";
import { defineTool, memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, fail, hang, inTurn, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { freePort } from "../../../packages/testkit/test/free-port.ts";
import { COPIED_MS, holdTimers, passTime, UNDO_MS } from "./held-timers.ts";
import { begin, openTab, servedPage, TOKEN, TOKEN_OF_BOB } from "./served-page.ts";

const test = browserTests();

const execute = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}`,
});

test("the token leaves the address bar, and a reload and another tab have it", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await openTab(context, served.address);
  assert.equal(tab.url(), `${served.url}/`);
  assert.equal(await tab.evaluate(() => document.cookie), "");
  await tab.reload();
  await tab.waitForSelector("#message");
  const other = await openTab(context, served.url);
  assert.deepEqual([tab.problems, other.problems], [[], []]);
});

test("a tab goes on with the token that another tab was given, when its own is valid no more", async (context) => {
  await using served = await servedPage({ model: script(say("Hello."), say("Hello again.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  served.holders.shift();
  await openTab(context, `${served.url}/#token=${TOKEN_OF_BOB}`);
  await begin(tab, "Hi again");
  await tab.waitForSelector(".notice.error, .entry.assistant ~ .entry.assistant");
  assert.equal(await tab.locator(".notice.error").count(), 0);
});

test("without a token the page asks for one, and takes it", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await context.newPage();
  await tab.goto(served.url);
  await tab.fill("input[type=password]", TOKEN);
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("#message");
});

test("an address with a token that is pasted into an open page gives it the token, and leaves the address bar", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await context.newPage();
  await tab.goto(served.url);
  await tab.waitForSelector("input[type=password]");
  const paste = (token: string) => tab.evaluate((text) => void (location.hash = `token=${text}`), token);
  await paste("of-an-earlier-server");
  await tab.waitForSelector("[role=alert] >> text=does not know");
  await paste(TOKEN);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  await tab.fill("#message", "half a thought");
  const address = tab.url();
  await paste(TOKEN_OF_BOB);
  await tab.waitForSelector("text=What shall we do?");
  assert.equal(tab.url(), `${served.url}/`);
  await tab.goto(address);
  await tab.waitForSelector(".author >> text=ann");
  assert.equal(await tab.inputValue("#message"), "half a thought");
});

test("a first message creates a thread, an approval shows the command, and the answer streams", async (context) => {
  const model = script(call("execute", { command: "npm test" }), say("All **green**.", { delayMs: 5 }));
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Run the tests");
  await tab.waitForSelector(".approval");
  assert.equal(await tab.textContent(".will-run"), "npm test");
  assert.equal(await tab.evaluate(() => document.activeElement?.id), "message", "the question does not take the focus");
  await tab.click("text=Approve");
  await tab.waitForSelector("strong:has-text('green')");
  assert.match((await tab.textContent(".conversation"))!, /Run the tests.*execute.*npm test.*All green\./s);
  assert.deepEqual(tab.problems, []);
});

test("an approval that is answered elsewhere disappears, and its outcome is shown", async (context) => {
  const model = script(call("execute", { command: "make" }), say("Built."));
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Build");
  await tab.waitForSelector(".approval");
  const [asked] = await served.harness.pendingApprovals();
  const session = await served.harness.createSession({ threadId: asked!.threadId });
  await session.respondToToolApproval({ decision: "approve" });
  await tab.waitForSelector("text=Built.");
  assert.equal(await tab.locator(".approval").count(), 0);
});

test("what is not sent survives a reload", async (context) => {
  await using served = await servedPage({ model: script(say("One."), say("Two.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Begin");
  await tab.waitForSelector("text=One.");
  await tab.fill("#message", "half a thought");
  await tab.reload();
  await tab.waitForFunction(() => document.querySelector<HTMLTextAreaElement>("#message")?.value === "half a thought");
});

test("a page that is reloaded in the middle of an answer shows the whole answer", async (context) => {
  const text = "A long answer in many words. ".repeat(40);
  await using served = await servedPage({ model: script(say(text, { delayMs: 10 })) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector(".message.assistant");
  await tab.reload();
  await tab.waitForFunction(
    (end) => (document.querySelector(".conversation")?.textContent ?? "").includes(end),
    text.trim(),
  );
  assert.equal(await tab.locator(".message.assistant").count(), 1);
});

test("a server that restarts in the middle of a turn is noticed, and the page goes on by itself", async (context) => {
  const data = new MemoryData();
  const model = script(call("execute", { command: "ls" }), say("After the restart."));
  const port = await freePort();
  const first = await servedPage({ model, tools: { execute }, storage: memoryStore(data), port });
  const tab = await openTab(context, first.address);
  await begin(tab, "Go");
  await tab.waitForSelector(".approval");
  await first[Symbol.asyncDispose]();
  await using second = await servedPage({ model, tools: { execute }, storage: memoryStore(data), port });
  assert.equal(second.port, port);
  await tab.click(".approval >> text=Approve");
  await tab.waitForSelector("text=After the restart.");
});

test("Esc stops a turn, a message steers it, and Alt-Enter queues one that can be edited and removed", async (context) => {
  await using served = await servedPage({ model: script(hang("Thinking"), say("Stopped.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.waitForSelector("text=Thinking");
  await tab.fill("#message", "later");
  await tab.keyboard.press("Alt+Enter");
  await tab.waitForSelector(".queue >> text=later");
  await tab.click(".queue >> text=Edit");
  await tab.fill(".queue textarea", "much later");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".queue >> text=much later");
  await tab.click(".queue >> text=Remove");
  await tab.waitForFunction(() => document.querySelector(".queue") === null);
  await tab.keyboard.press("Escape");
  await tab.waitForSelector("text=Interrupted");
});

test("a parked turn says why, runs nothing, and goes on with Continue, with a message, or ends with Stop", async (context) => {
  const data = new MemoryData();
  const tools = (run: () => Promise<string>) => ({
    step: defineTool({ description: "A step", effect: "pure", category: "read", input: z.object({}), execute: run }),
  });
  const dying = memoryStore(data);
  await using dead = await servedPage({
    model: scriptedBy(() => call("step", {})),
    tools: tools(() => new Promise(() => undefined)),
    storage: dying,
  });
  for (const title of ["Continued", "Steered", "Stopped"]) {
    const session = await dead.harness.createSession();
    await session.createThread({ title });
    const started = new Promise((resolve) => {
      session.subscribe(({ type }) => type === "tool_start" && resolve(type));
    });
    await session.post({ content: "Go", delivery: "send" });
    await started;
  }
  dying.die();
  const model = scriptedBy(({ prompt }) => say(`Done after ${prompt.filter(({ role }) => role === "user").length}.`));
  const storage = memoryStore(data);
  const harness = { onRecover: "pause" } as const;
  await using served = await servedPage({ model, tools: tools(async () => "done"), storage, harness });
  const tab = await openTab(context, served.address);
  const openParked = async (title: string) => {
    await tab.click(`.threads a >> text=${title}`);
    await tab.waitForSelector(".thread-header >> text=" + title);
    await tab.waitForSelector(".activity.still >> text=Parked: the process that drove it is gone");
    assert.equal(await tab.locator(".call.running").count(), 0);
  };
  await openParked("Continued");
  assert.equal(await tab.getAttribute("#message", "placeholder"), "Enter continues");
  await tab.click(".composer .primary");
  await tab.waitForSelector(".message >> text=Done after 1.");
  await openParked("Steered");
  await begin(tab, "And then this");
  await tab.waitForSelector(".message >> text=Done after 2.");
  await openParked("Stopped");
  await tab.keyboard.press("Escape");
  await tab.waitForSelector(".activity.still", { state: "detached" });
  assert.equal(await tab.getAttribute("#message", "placeholder"), "Message the agent");
  assert.deepEqual(tab.problems, []);
});

test("everything is reached by keyboard: the palette finds commands, and a thread is deleted with an undo", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  await holdTimers(context, UNDO_MS);
  const tab = await openTab(context, served.address);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  await tab.keyboard.press("Control+k");
  await tab.waitForSelector(".palette-input:focus");
  await tab.keyboard.type("yolo on");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".yolo");
  await tab.hover(".threads li");
  await tab.click(".threads li > button");
  await tab.waitForSelector("text=No thread yet.");
  await tab.click("text=Undo");
  await tab.waitForSelector(".threads li");
  await passTime(tab);
  assert.equal((await served.harness.listThreads()).length, 1);
});

test("a rewind shows what it would change, and reverts the messages", async (context) => {
  await using served = await servedPage({ model: script(say("One."), say("Two.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=One.");
  await begin(tab, "Second");
  await tab.waitForSelector("text=Two.");
  await tab.hover(".entry:last-of-type");
  await tab.locator(".rewind").last().click();
  await tab.waitForSelector("dialog >> text=2 messages are reverted.");
  // Without a workspace there are no files to restore.
  assert.equal(await tab.locator("dialog input[type=checkbox]").count(), 0);
  await tab.click("dialog .choices >> text=Rewind");
  await tab.waitForFunction(() => !(document.querySelector(".conversation")?.textContent ?? "").includes("Two."));
  assert.deepEqual(tab.problems, []);
});

test("a failed turn is tried again with a button, and an answer is copied and says when it was given", async (context) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await holdTimers(context, COPIED_MS);
  await using served = await servedPage({
    model: script(inTurn(fail(new Error("Out of order.")), say("It **works**."))),
  });
  const tab = await openTab(context, served.address);
  await begin(tab, "Go");
  await tab.click(".failure >> text=Try again");
  await tab.waitForSelector("strong:has-text('works')");
  assert.equal(await tab.locator(".failure").count(), 0);
  await tab.hover(".entry.assistant");
  await tab.click(".entry.assistant .actions >> text=Copy");
  await tab.waitForSelector(".actions >> text=Copied");
  await passTime(tab);
  await tab.waitForSelector(".actions >> text=Copied", { state: "detached" });
  assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), "It **works**.");
  assert.match((await tab.getAttribute(".entry.assistant time", "title"))!, /\d/);
  assert.deepEqual(tab.problems, []);
});

test("a reader at the end stays there when a question takes room, and one who scrolled up stays where they are", async (context) => {
  const long = "A line of a long answer.\n\n".repeat(60);
  const model = script(
    say(long),
    call("execute", { command: "one" }),
    call("execute", { command: "two" }),
    say("Done."),
  );
  await using served = await servedPage({ model, tools: { execute } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Tell me");
  await tab.waitForSelector("text=A line of a long answer. >> nth=59");
  await begin(tab, "Run it");
  await tab.waitForSelector(".approval");
  const distance = () =>
    tab.evaluate(() => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".conversation")!;
      return Math.round(scrollHeight - scrollTop - clientHeight);
    });
  await tab.waitForFunction(() => {
    const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".conversation")!;
    return scrollHeight - scrollTop - clientHeight < 2;
  });
  assert.equal(await tab.locator(".to-end").count(), 0);
  await tab.hover(".conversation");
  await tab.mouse.wheel(0, -600);
  await tab.waitForSelector(".to-end");
  const top = await tab.evaluate(() => document.querySelector(".conversation")!.scrollTop);
  await tab.click(".approval >> text=Approve");
  await tab.waitForSelector(".will-run >> text=two");
  assert.equal(await tab.evaluate(() => document.querySelector(".conversation")!.scrollTop), top);
  await tab.click(".to-end");
  await tab.waitForSelector(".to-end", { state: "detached" });
  assert.ok((await distance()) < 60);
});

test("a tour whose script can't be loaded leads back to the page", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await openTab(context, served.address);
  await tab.route("**/tour-page-*.js", (route) => route.abort());
  await tab.evaluate(() => void (location.hash = "#/tour"));
  await tab.waitForFunction(() => location.hash === "");
  await tab.waitForSelector("#message");
  assert.deepEqual(tab.problems, []);
});
