import assert from "node:assert/strict";
import { memoryStore } from "@cinch/core";
import { hang, say, script, scriptedBy } from "@cinch/testkit";
import type { Page } from "playwright-core";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();
const TEXT_FILE = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("remember the milk") };

/** What a browser does when the user drops a file, or pastes one. */
const transfer = (tab: Page, kind: "drop" | "paste", name: string) =>
  tab.evaluate(
    ([event, file]) => {
      const data = new DataTransfer();
      data.items.add(new File(["bytes"], file!, { type: "text/plain" }));
      if (event === "paste")
        document
          .querySelector("#message")!
          .dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
      else
        for (const type of ["dragover", "drop"])
          document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [kind, name],
  );

test("files are attached with a button, pasted and dropped, also to the first message, and the model gets them", async (context) => {
  const model = script(say("I have read them."), say("And this one."));
  await using served = await servedPage({ model, storage: memoryStore() });
  const tab = await openTab(context, served.address);
  await tab.setInputFiles("input[type=file]", [TEXT_FILE, { ...TEXT_FILE, name: "not-this.txt" }]);
  await tab.click("[aria-label='Remove not-this.txt']");
  await begin(tab, "Read this");
  await tab.waitForSelector("text=I have read them.");
  await transfer(tab, "paste", "pasted.txt");
  await transfer(tab, "drop", "dropped.txt");
  await tab.waitForSelector(".attached >> text=dropped.txt");
  assert.deepEqual(await tab.locator(".attached li > span").allTextContents(), ["pasted.txt", "dropped.txt"]);
  await begin(tab, "And these");
  await tab.waitForSelector("text=And this one.");
  assert.equal(await tab.locator(".attached").count(), 0);
  const named = model.requests.map((request) => JSON.stringify(request.prompt));
  assert.match(named[0]!, /notes\.txt/);
  assert.doesNotMatch(named[0]!, /not-this/);
  assert.match(named[1]!, /pasted\.txt.*dropped\.txt/);
  assert.deepEqual(tab.problems, []);
});

test("files that are attached are there after a look at another thread, and after a message to the thread that was left is refused", async (context) => {
  await using served = await servedPage({ model: script(say("One."), say("Two.")) });
  const tab = await openTab(context, served.address);
  const attached = () => tab.locator(".attached li > span").allTextContents();
  const toNew = async () => {
    await tab.keyboard.press("Control+Shift+o");
    await tab.waitForSelector("text=What shall we do?");
  };
  const toFirst = async () => {
    await tab.click(".threads li a");
    await tab.waitForSelector("text=One.");
  };
  await begin(tab, "First");
  await tab.waitForSelector("text=One.");
  await tab.setInputFiles("input[type=file]", TEXT_FILE);
  await tab.waitForSelector(".attached >> text=notes.txt");
  await toNew();
  assert.deepEqual(await attached(), []);
  await toFirst();
  assert.deepEqual(await attached(), ["notes.txt"]);
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  await tab.route("**/post", async (route) => {
    await mayAnswer;
    await route.fulfill({
      status: 507,
      headers: { "cinch-protocol": "1" },
      json: { error: { code: "STORE_FULL", message: "The disk is full." } },
    });
  });
  await begin(tab, "Read this");
  await toNew();
  answer();
  await tab.waitForSelector(".notice.error >> text=The disk is full.");
  assert.deepEqual(await attached(), []);
  await toFirst();
  assert.equal(await tab.inputValue("#message"), "Read this");
  assert.deepEqual(await attached(), ["notes.txt"]);
  assert.deepEqual(tab.problems, []);
});

test("a file that is too large is refused with its name, and what is typed stays", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await openTab(context, served.address);
  await tab.fill("#message", "Read this");
  await tab.setInputFiles("input[type=file]", { ...TEXT_FILE, name: "huge.bin", buffer: Buffer.alloc(10_000_001) });
  await tab.waitForSelector(".notice.error >> text=huge.bin is larger than 10 MB");
  assert.equal(await tab.inputValue("#message"), "Read this");
});

test("keys that are typed right after Ctrl-K reach the palette, and none of them the composer", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  await tab.focus("#message");
  // Events of one task, as fast as a keyboard can be.
  const focused = await tab.evaluate(async () => {
    document.activeElement!.dispatchEvent(
      new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }),
    );
    await Promise.resolve();
    return document.activeElement!.className;
  });
  assert.equal(focused, "palette-input");
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("keys");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("dialog >> text=Ctrl-Shift-O");
  assert.equal(await tab.inputValue("#message"), "");
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("Control+Shift+o");
  await tab.waitForSelector("text=What shall we do?");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("open hi");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("text=Hello.");
});

test("a text that is typed and sent before the composer is drawn is sent", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  // Events of one task, as of a busy page.
  await tab.evaluate(async () => {
    dispatchEvent(new KeyboardEvent("keydown", { key: "o", ctrlKey: true, shiftKey: true, cancelable: true }));
    while (!document.querySelector(".welcome #message")) await Promise.resolve();
    const area = document.querySelector<HTMLTextAreaElement>("#message")!;
    area.value = "Second";
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await Promise.resolve();
    area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });
  await tab.waitForSelector(".message.user >> text=Second");
});

test("an arrow in the palette leads to commands that were out of sight", async (context) => {
  await using served = await servedPage({ model: script(say("Hello.")) });
  const tab = await openTab(context, served.address);
  await tab.setViewportSize({ width: 320, height: 400 });
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.press("ArrowUp");
  const isSeen = () =>
    tab.evaluate(() => {
      const [chosen, list] = ["[aria-selected=true]", "#palette"].map((one) =>
        document.querySelector(one)!.getBoundingClientRect(),
      );
      return chosen!.bottom <= list!.bottom + 1 && chosen!.top >= list!.top - 1;
    });
  await tab.waitForSelector("#palette li:last-child[aria-selected=true]");
  assert.ok(await isSeen());
});

test("a message is edited and sent again: a rewind puts it into the composer, before what is typed there", async (context) => {
  await using served = await servedPage({ model: script(say("One."), say("Two.")), storage: memoryStore() });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=One.");
  await begin(tab, "Secnod");
  await tab.waitForSelector("text=Two.");
  await tab.fill("#message", "typed");
  await tab.setInputFiles("input[type=file]", TEXT_FILE);
  await tab.waitForSelector(".attached >> text=notes.txt");
  await tab.hover(".entry.user >> nth=1");
  await tab.click(".entry.user >> nth=1 >> .rewind");
  await tab.click("dialog .choices >> text=Rewind");
  await tab.waitForFunction(() => document.querySelector<HTMLTextAreaElement>("#message")?.value === "Secnod\ntyped");
  assert.equal(await tab.locator(".attached >> text=notes.txt").count(), 1, "what is attached stays attached");
  await begin(tab, "Second");
  await tab.waitForSelector(".conversation >> text=Two.");
  assert.deepEqual(await tab.locator(".message.user .typed").allTextContents(), ["First", "Second"]);
  assert.deepEqual(tab.problems, []);
});

test("the last message is edited with keys alone", async (context) => {
  await using served = await servedPage({ model: script(say("One."), say("Two.")) });
  const tab = await openTab(context, served.address);
  await begin(tab, "Frist");
  await tab.waitForSelector("text=One.");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("edit my last");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("dialog .primary:enabled");
  await tab.focus("dialog .primary");
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.querySelector<HTMLTextAreaElement>("#message")?.value === "Frist");
  await tab.waitForSelector("#message:focus");
  assert.equal(await tab.locator(".message").count(), 0);
});

test("a message that is refused is in the composer again", async (context) => {
  await using served = await servedPage({ model: script(say("One."), hang()) });
  const tab = await openTab(context, served.address);
  await begin(tab, "First");
  await tab.waitForSelector("text=One.");
  await tab.route("**/post", (route) =>
    route.fulfill({
      status: 507,
      headers: { "cinch-protocol": "1" },
      json: { error: { code: "STORE_FULL", message: "The disk is full." } },
    }),
  );
  await begin(tab, "Second");
  await tab.waitForSelector(".notice.error >> text=The disk is full.");
  assert.equal(await tab.inputValue("#message"), "Second");
});

test("a queued message that the agent takes while it is edited, or before the edit arrives, leaves what was written in the composer", async (context) => {
  let requests = 0;
  const model = scriptedBy(() => (requests++ % 2 === 0 ? hang("Half") : say("Done.")));
  await using served = await servedPage({ model });
  for (const isSaved of [false, true]) {
    const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
    const { promise: mayArrive, resolve: arrive } = Promise.withResolvers<void>();
    // Before the page makes its requests: one that is under way when routes are set may pass them.
    await context.route("**/editInput", async (route) => {
      sent();
      await mayArrive;
      await route.continue();
    });
    const tab = await openTab(context, served.address);
    await begin(tab, "First");
    await tab.waitForSelector(".conversation >> text=Half");
    await tab.fill("#message", "Secnod");
    await tab.keyboard.press("Alt+Enter");
    await tab.click(".queue >> text=Edit");
    await tab.fill(".queue textarea", "Second, ");
    if (isSaved) {
      await tab.keyboard.press("Enter");
      await isSent;
    }
    const [thread] = await served.harness.listThreads();
    const other = await served.harness.createSession({ threadId: thread!.id });
    await other.abort();
    await other.resume();
    await tab.waitForSelector("text=Done.");
    arrive();
    await tab.waitForFunction(() => document.querySelector<HTMLTextAreaElement>("#message")?.value === "Second, ");
    await tab.keyboard.type("and more");
    assert.equal(await tab.inputValue("#message"), "Second, and more");
    assert.deepEqual(tab.problems, []);
    await tab.close();
    await context.unroute("**/editInput");
    await served.harness.deleteThread({ threadId: thread!.id });
  }
});
