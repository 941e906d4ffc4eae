import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { TOUR_REQUEST } from "@cinch/web";
import type { Page } from "playwright-core";
import { browserTests } from "../../../../packages/testkit/test/browser.ts";
import { openTab, untilAnswerable } from "../../../web/test/served-page.ts";
import { Place } from "../cli.ts";
import { Served } from "./served.ts";

const inBrowser = browserTests();
const tourFolders = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("cinch-tour-"));
const hint = async (tab: Page, text: string) => {
  await tab.waitForSelector(`.guide >> text=${text}`);
  await untilAnswerable(tab);
};

inBrowser(
  "a first visit offers the tour: a plan, two edits and a command are approved, and all of it is undone",
  async (context) => {
    await using place = new Place();
    const served = await Served.start(place, { env: { TMPDIR: place.home } });
    const tab = await openTab(context, /^http\S+/.exec(served.running.stdout)![0]);
    await tab.click("text=Take the two-minute tour");
    await hint(tab, "Send the request below");
    assert.equal(await tab.inputValue("#message"), TOUR_REQUEST);
    assert.equal(tourFolders(place.home).length, 1);
    await tab.keyboard.press("Enter");
    await hint(tab, "In plan mode nothing is changed");
    await tab.click(".plan >> text=Approve, go to build");
    await hint(tab, "This edit is not made yet");
    assert.match((await tab.textContent(".approval .diff"))!, /let i = 1;[^]*let i = 0;/);
    // A reload stays in the tour.
    await tab.reload();
    await hint(tab, "This edit is not made yet");
    await tab.click(".approval >> text=Approve");
    await hint(tab, "Commands ask, too");
    assert.equal(await tab.textContent(".will-run"), "npm test");
    await tab.click(".approval >> text=Always allow npm test");
    await hint(tab, "This edit is not made yet");
    await tab.click(".approval >> text=Approve");
    await hint(tab, "Now undo all of it");
    await tab.waitForSelector(".conversation >> text=The total is right now");
    await tab.waitForSelector(".call.done >> text=Review src/cart.js");
    await tab.hover(".entry.user");
    await tab.click(".entry.user .rewind");
    await tab.waitForSelector("dialog >> text=src/cart.js");
    await tab.click("dialog .choices >> text=Rewind");
    await hint(tab, "The files are as they were");
    await tab.click(".guide >> text=Leave the tour");
    await tab.waitForSelector("text=Take the two-minute tour");
    while (tourFolders(place.home).length > 0) await tab.waitForTimeout(20);
    // What the tour does is in no thread of the folder.
    assert.deepEqual(await (await served.get("/v1/threads")).json(), []);
    assert.deepEqual(tab.problems, []);
  },
);

test("a tour that was left is not opened again by a request that arrives late", async () => {
  await using place = new Place();
  const served = await Served.start(place, { env: { TMPDIR: place.home } });
  const tour = `/tour/${randomUUID()}`;
  assert.equal((await served.get(`${tour}/v1`)).status, 200);
  assert.equal((await served.delete(tour)).status, 204);
  assert.equal((await served.get(`${tour}/v1/threads`)).status, 404);
  assert.deepEqual(tourFolders(place.home), []);
});

test("a tour needs a token that may do everything, and ends with the server", async () => {
  await using place = new Place();
  const reader = await Served.start(place, { args: ["--port", "0", "--read-only"], env: { TMPDIR: place.home } });
  const path = `/tour/${randomUUID()}/v1`;
  assert.equal((await reader.as("").get(path)).status, 401);
  assert.equal((await reader.get(path)).status, 404);
  assert.deepEqual(tourFolders(place.home), []);
  const served = await Served.start(place, { env: { TMPDIR: place.home } });
  for (let tours = 0; tours < 6; tours++) assert.equal((await served.get(`/tour/${randomUUID()}/v1`)).status, 200);
  while (tourFolders(place.home).length > 4) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(tourFolders(place.home).length, 4);
  served.running.child.kill("SIGTERM");
  await served.running.finished;
  assert.deepEqual(tourFolders(place.home), []);
});
