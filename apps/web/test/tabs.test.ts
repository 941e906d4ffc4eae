import assert from "node:assert/strict";
import { defineTool, memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { freePort } from "../../../packages/testkit/test/free-port.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

const execute = defineTool({
  description: "Runs a command",
  category: "execute",
  input: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}`,
});

test("seven tabs of one browser all show a new message and an approval, and each can answer it", async (context) => {
  const model = script(say("Hello."), call("execute", { command: "make" }), say("Built."));
  await using served = await servedPage({ model, tools: { execute } });
  const first = await openTab(context, served.address);
  await begin(first, "Hi");
  await first.waitForSelector("text=Hello.");
  const address = first.url();
  const others = [];
  for (let tab = 1; tab < 7; tab++) others.push(await openTab(context, address));
  const list = await openTab(context, served.url);
  await begin(first, "Build it");
  const tabs = [first, ...others];
  await Promise.all(tabs.map((tab) => tab.waitForSelector(".approval")));
  await Promise.all(tabs.map((tab) => tab.waitForSelector(".conversation >> text=Build it")));
  await list.waitForSelector(".threads .mark.waits");
  await others.at(-1)!.click(".approval >> text=Approve");
  await Promise.all(tabs.map((tab) => tab.waitForSelector("text=Built.")));
  assert.deepEqual(
    [...tabs, list].flatMap(({ problems }) => problems),
    [],
  );
});

test("a notice says that the server can't be reached, and goes when it is back", async (context) => {
  const data = new MemoryData();
  const model = script(say("Hello."));
  const port = await freePort();
  const served = await servedPage({ model, storage: memoryStore(data), port });
  const tab = await openTab(context, served.address);
  await begin(tab, "Hi");
  await tab.waitForSelector("text=Hello.");
  assert.equal(await tab.locator(".connection").count(), 0);
  await served[Symbol.asyncDispose]();
  await tab.waitForSelector(".connection >> text=can't be reached");
  await using again = await servedPage({ model, storage: memoryStore(data), port });
  assert.equal(again.port, port);
  await tab.waitForSelector(".connection", { state: "detached" });
});
