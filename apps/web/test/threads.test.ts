import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";
import * as z from "zod";
import { browserTests, newContext } from "../../../packages/testkit/test/browser.ts";
import { holdTimers, passTime, UNDO_MS } from "./held-timers.ts";
import { begin, openTab, servedPage, TOKEN_OF_BOB, TOKEN_OF_READER } from "./served-page.ts";

const test = browserTests();

const LONG = Array.from({ length: 300 }, (_, line) => `line ${line} of the output`).join("\n");
const long = defineTool({
  description: "Prints a lot",
  category: "read",
  input: z.object({ path: z.string() }),
  execute: async () => LONG,
});

test("threads are found by what was said, renamed, cloned and deleted", async (context) => {
  await using served = await servedPage({ model: script(say("The answer is forty-two.")) });
  await holdTimers(context, UNDO_MS);
  const tab = await openTab(context, served.address);
  await begin(tab, "What is the answer?");
  await tab.waitForSelector("text=forty-two");
  await tab.click(".thread-header .title");
  await tab.fill("[aria-label=Title]", "Deep thought");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".threads >> text=Deep thought");
  const source = new URL(tab.url()).hash;
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("clone");
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.querySelectorAll(".threads li").length === 2);
  await tab.waitForFunction((hash) => location.hash !== hash, source);
  await tab.waitForSelector(".conversation >> text=forty-two");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("delete this");
  await tab.waitForSelector("[role=option] >> text=Delete this thread");
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.querySelectorAll(".threads li").length === 1);
  await tab.waitForSelector(".notice >> text=is deleted");
  assert.equal((await served.harness.listThreads()).length, 2, "until it can't be undone, nothing is deleted");
  await passTime(tab);
  await tab.waitForSelector(".notice", { state: "detached" });
  while ((await served.harness.listThreads()).length !== 1) await tab.waitForTimeout(100);
  await tab.fill(".search input", "forty-two");
  await tab.waitForSelector(".threads >> text=Deep thought");
  await tab.fill(".search input", "nowhere");
  await tab.waitForSelector("text=Nothing found.");
  assert.deepEqual(tab.problems, []);
});

test("people at a thread see each other's names, and a reader can neither write nor approve", async (context) => {
  await using served = await servedPage({ model: script(say("Hello."), say("Hello, Bob.")) });
  const ann = await openTab(context, served.address);
  await begin(ann, "Hi");
  await ann.waitForSelector("text=Hello.");
  const path = new URL(ann.url()).hash;
  const others = context.browser()!;
  const [forBob, forEve] = [await newContext(others), await newContext(others)];
  const bob = await openTab(forBob, `${served.url}/#token=${TOKEN_OF_BOB}`);
  await bob.evaluate((hash) => (location.hash = hash), path);
  await bob.waitForSelector("text=Hello.");
  await ann.waitForSelector(".people >> text=ann, bob");
  await begin(bob, "I am Bob");
  await ann.waitForSelector(".message.user .author >> text=bob");
  assert.equal(await bob.locator(".message.user .author >> text=bob").count(), 0, "one's own name is not shown");
  const eve = await forEve.newPage();
  await eve.goto(`${served.url}/#token=${TOKEN_OF_READER}`);
  await eve.click(".threads li a");
  await eve.waitForSelector("text=Hello, Bob.");
  await eve.waitForSelector("text=Your token may read this thread");
  assert.equal(await eve.locator("#message").count(), 0);
  await Promise.all([forBob.close(), forEve.close()]);
});

test("older messages come by page, and what the reader looks at stays where it is", async (context) => {
  const model = scriptedBy(({ prompt }) => say(`Answer ${prompt.filter(({ role }) => role === "user").length}.`));
  await using served = await servedPage({ model });
  const session = await served.harness.createSession();
  const { id } = await session.createThread({ title: "Long" });
  for (let turn = 1; turn <= 140; turn++) await session.sendMessage({ content: `Question ${turn}` });
  const tab = await openTab(context, served.address);
  await tab.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
  await tab.waitForSelector("text=Answer 140.");
  assert.equal(await tab.locator(".message").count(), 200);
  const isAtEnd = () =>
    tab.evaluate(() => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".conversation")!;
      return scrollHeight - scrollTop - clientHeight < 2;
    });
  assert.ok(await isAtEnd());
  await tab.evaluate(() => document.querySelector(".conversation")!.scrollTo(0, 0));
  const first = tab.locator(".message >> text=Question 41 >> nth=0");
  const before = (await first.boundingBox())!.y;
  await tab.click("text=Show older messages");
  await tab.waitForFunction(() => document.querySelectorAll(".message").length === 250);
  await tab.waitForFunction((y) => {
    const shown = [...document.querySelectorAll(".message")].find((one) => one.textContent?.includes("Question 41"))!;
    return Math.abs(shown.getBoundingClientRect().y - y) < 40;
  }, before - 16);
  await tab.evaluate(() => document.querySelector(".conversation")!.scrollTo(0, 0));
  await tab.click("text=Show older messages");
  await tab.waitForSelector('.message >> text="Question 1" >> nth=0');
  assert.equal(await tab.locator(".message").count(), 280);
  assert.equal(await tab.locator("text=Show older messages").count(), 0);
});

test("a reader who scrolls up in the moment in which a thread is drawn stays there", async (context) => {
  const model = scriptedBy(() => say("An answer.\n\n".repeat(20)));
  await using served = await servedPage({ model });
  const session = await served.harness.createSession();
  const { id } = await session.createThread({ title: "Long" });
  for (let turn = 1; turn <= 5; turn++) await session.sendMessage({ content: `Question ${turn}` });
  const tab = await openTab(context, served.address);
  await tab.evaluate(() => {
    // Before the browser has told the page of its own scrolling.
    const watch = new MutationObserver(() => {
      const box = document.querySelector(".conversation");
      if (!box || box.scrollTop === 0) return;
      box.scrollTop = 0;
      watch.disconnect();
    });
    watch.observe(document.body, { childList: true, subtree: true });
  });
  await tab.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
  await tab.waitForSelector("text=Question 5");
  await tab.waitForSelector("text=To the end");
  await session.sendMessage({ content: "Question 6" });
  await tab.waitForSelector(".message >> text=Question 6");
  assert.equal(await tab.evaluate(() => document.querySelector(".conversation")!.scrollTop), 0);
});

test("a result that the display has only a part of is shown whole when it is opened, and exported whole", async (context) => {
  await using served = await servedPage({ model: script(call("long", { path: "x" }), say("Long.")), tools: { long } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Print it");
  await tab.waitForSelector("text=Long.");
  await tab.click(".call-line");
  await tab.waitForSelector(".output");
  assert.equal(await tab.textContent(".output"), LONG);
  const downloading = tab.waitForEvent("download");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("export");
  await tab.keyboard.press("Enter");
  const exported = readFileSync(await (await downloading).path(), "utf8");
  assert.equal(
    exported,
    `# Print it\n\n## ann\n\nPrint it\n\n## Agent\n\n**long**\n\n\`\`\`\n{"path":"x"}\n\`\`\`\n\n\`\`\`\n${LONG}\n\`\`\`\n\n## Agent\n\nLong.\n`,
  );
});

test("calls of several messages that have the same id are exported with their own arguments and results", async (context) => {
  const show = defineTool({
    description: "Shows a path",
    category: "read",
    input: z.object({ path: z.string() }),
    execute: async ({ path }) => (path === "long" ? LONG : `contents of ${path}`),
  });
  const model = script(
    call("show", { path: "a" }, "call_1"),
    call("show", { path: "long" }, "call_1"),
    call("show", { path: "b" }, "call_1"),
    say("Shown."),
  );
  await using served = await servedPage({ model, tools: { show } });
  const tab = await openTab(context, served.address);
  await begin(tab, "Show them");
  await tab.waitForSelector("text=Shown.");
  const downloading = tab.waitForEvent("download");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("export");
  await tab.keyboard.press("Enter");
  const exported = readFileSync(await (await downloading).path(), "utf8");
  assert.deepEqual(
    [...exported.matchAll(/```\n(\{"path.*)\n```\n\n```\n([^`]*)\n```/g)].map(([, args, result]) => [args, result]),
    [
      ['{"path":"a"}', "contents of a"],
      ['{"path":"long"}', LONG],
      ['{"path":"b"}', "contents of b"],
    ],
  );
});

test("files are shown with their changes since any message, and a rewind says which it restores, and does", async (context) => {
  const root = mkdtempSync(join(tmpdir(), "cinch-page-files-"));
  try {
    writeFileSync(join(root, "a.txt"), "one\n");
    const write = (content: string) => call("write_file", { file_path: "/a.txt", content });
    const model = script(
      call("read_file", { file_path: "/a.txt" }),
      write("two\n"),
      say("It is two."),
      write("three\n"),
      say("It is three."),
    );
    const rules = ["read", "edit"].map((category) => ({
      category: category as "read" | "edit",
      policy: "allow" as const,
    }));
    const workspace = localWorkspace({ root });
    await using served = await servedPage({ model, harness: { workspace, permissions: rules } });
    await holdTimers(context, UNDO_MS);
    const tab = await openTab(context, served.address);
    await begin(tab, "Make it two");
    await tab.waitForSelector("text=It is two.");
    await begin(tab, "Make it three");
    await tab.waitForSelector("text=It is three.");
    await tab.waitForSelector(".call .diff >> text=three");
    await tab.click(".side >> text=Show changes");
    await tab.click(".file-diff summary");
    await tab.waitForSelector(".file-diff .line");
    assert.deepEqual(await tab.locator(".file-diff .line").allTextContents(), ["@@ -1,1 +1,1 @@", "one", "three"]);
    await tab.selectOption(".since select", { label: "“Make it three”" });
    await tab.waitForSelector(".file-diff .removed >> text=two");
    await tab.hover(".entry.user >> nth=1");
    await tab.click(".entry.user >> nth=1 >> .rewind");
    await tab.waitForSelector("dialog .files >> text=a.txt");
    assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "three\n", "a preview changes nothing");
    await tab.click("dialog .choices >> text=Rewind");
    await tab.waitForSelector(".notice >> text=reverted");
    assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "two\n");
    await tab.click(".side >> text=Explain");
    await tab.waitForSelector(".side meter");
    assert.match((await tab.textContent(".side"))!, /of 128k tokens.*Instructions.*Results of tools/s);
    assert.deepEqual(tab.problems, []);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 9 });
  }
});

test("a thread that can't be deleted is in the list again, and the page says why", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  await (await served.harness.createSession()).createThread({ title: "Stays" });
  await holdTimers(context, UNDO_MS);
  const tab = await openTab(context, served.address);
  await tab.route("**/v1/threads/*", (route) =>
    route.request().method() === "DELETE"
      ? route.fulfill({
          status: 507,
          headers: { "cinch-protocol": "1" },
          json: { error: { code: "STORE_FULL", message: "The disk is full." } },
        })
      : route.continue(),
  );
  await tab.hover(".threads li");
  await tab.click("[aria-label='Delete Stays']");
  await tab.waitForSelector("text=No thread yet.");
  await passTime(tab);
  await tab.waitForSelector(".notice.error >> text=The disk is full.");
  await tab.waitForSelector(".threads li >> text=Stays");
});

test("threads are deleted when the page is left before their deletions can't be undone", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const session = await served.harness.createSession();
  for (const title of ["Kept", "Gone", "Gone, too", "Gone as well"]) await session.createThread({ title });
  await holdTimers(context, UNDO_MS);
  // A browser may cut off what else a page sends at its end.
  await context.addInitScript(() => {
    const { fetch: send } = window;
    window.fetch = (url, init) =>
      init?.method === "DELETE" && !init.keepalive ? new Promise(() => undefined) : send(url, init);
  });
  const tab = await openTab(context, served.address);
  await tab.click("[aria-label='Delete Kept']");
  await tab.click(".notice >> text=Undo");
  for (const title of ["Gone", "Gone, too", "Gone as well"]) {
    await tab.click(`[aria-label='Delete ${title}']`);
    await tab.waitForSelector(`[aria-label='Delete ${title}']`, { state: "detached" });
  }
  assert.equal((await served.harness.listThreads()).length, 4);
  await tab.goto("about:blank");
  const next = await openTab(context, served.address);
  await next.waitForSelector("[aria-label='Delete Kept']");
  for (const title of ["Gone", "Gone, too", "Gone as well"])
    await next.waitForSelector(`[aria-label='Delete ${title}']`, { state: "detached" });
  assert.deepEqual(
    (await served.harness.listThreads()).map(({ title }) => title),
    ["Kept"],
  );
});
