import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Rule } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { begin, openTab, servedPage } from "./served-page.ts";

const test = browserTests();

test("changes that are shown are those of the files as they are, and since the message that is chosen", async (context) => {
  const root = mkdtempSync(join(tmpdir(), "cinch-page-changes-"));
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
    const permissions: Rule[] = [
      { category: "read", policy: "allow" },
      { category: "edit", policy: "allow" },
    ];
    await using served = await servedPage({ model, harness: { workspace: localWorkspace({ root }), permissions } });
    const tab = await openTab(context, served.address);
    await begin(tab, "Make it two");
    await tab.waitForSelector("text=It is two.");
    await tab.click(".side >> text=Show changes");
    await tab.click(".file-diff summary");
    await tab.waitForSelector(".file-diff .added >> text=two");
    await begin(tab, "Make it three");
    await tab.waitForSelector(".file-diff .added >> text=three");

    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    await tab.route(/diff\?since=[1-9]/, async (route) => {
      await mayAnswer;
      await route.continue();
    });
    const asked = tab.waitForRequest(/diff\?since=[1-9]/);
    await tab.selectOption(".since select", { label: "“Make it three”" });
    await asked;
    await tab.selectOption(".since select", { label: "the beginning" });
    const late = tab.waitForResponse(/diff\?since=[1-9]/);
    answer();
    await late;
    await tab.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.deepEqual(await tab.locator(".file-diff .line").allTextContents(), ["@@ -1,1 +1,1 @@", "one", "three"]);
    assert.deepEqual(tab.problems, []);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 9 });
  }
});
