/** Takes the pictures of the page: those that the tests compare it with, and those that the README shows, in the fonts of this machine. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { difference, halved } from "../apps/web/test/picture-comparison.ts";
import { COMPARABLE, PICTURE_STATES, pictureOf } from "../apps/web/test/picture-states.ts";
import { startBrowser } from "../packages/testkit/test/browser.ts";

const MOST_BYTES = 150_000;
/** A picture that looks the same is left as it is: its bytes are in the history for ever. */
const SAME_PERCENT = 0.1;
const README: Readonly<Record<string, string>> = {
  approval: "docs/page-light.png",
  "approval-dark": "docs/page-dark.png",
};

const browser = await startBrowser();
const tab = await browser.newPage();
for (const [name, state] of Object.entries(PICTURE_STATES)) {
  const picture = await pictureOf(browser, state, COMPARABLE);
  await keep(`apps/web/test/pictures/${name}.png`, await halved(tab, picture));
  if (README[name] !== undefined) await keep(README[name], await pictureOf(browser, state, ":root {}"));
}
await browser.close();

async function keep(file: string, picture: Buffer): Promise<void> {
  const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined;
  const isSame = isThere && (await difference(tab, { kept: readFileSync(file), taken: picture })) <= SAME_PERCENT;
  if (!isSame) writeFileSync(file, picture);
  const { size } = statSync(file);
  console.log(`${file}: ${size} bytes${isSame ? ", as before" : ""}`);
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, at most ${MOST_BYTES}.`);
}
