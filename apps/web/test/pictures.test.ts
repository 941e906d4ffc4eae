import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { browserTests } from "../../../packages/testkit/test/browser.ts";
import { difference, halved } from "./picture-comparison.ts";
import { COMPARABLE, PICTURE_STATES, pictureOf } from "./picture-states.ts";

const test = browserTests();
/** Of all squares, in percent. Another version of the browser draws edges a little differently. */
const TOLERANCE = 1.4;
const kept = (name: string) => readFileSync(join(import.meta.dirname, "pictures", `${name}.png`));

for (const [name, state] of Object.entries(PICTURE_STATES))
  test(`the page looks as in pictures/${name}.png`, async (context) => {
    const tab = await context.newPage();
    const taken = await halved(tab, await pictureOf(context.browser()!, state, COMPARABLE));
    const percent = await difference(tab, { kept: kept(name), taken });
    const advice = `${percent.toFixed(1)} % of it differ. If that is meant: npm run pictures, and look at the new ones.`;
    assert.ok(percent <= TOLERANCE, advice);
  });

/** Mistakes in a style, each with a picture that must show it. */
const BROKEN: Readonly<Record<string, string>> = {
  approval: ".message.user { margin-inline-start: 0; background: none; }",
  welcome: ".column { max-width: none; }",
  palette: "dialog { margin: 0; }",
  "answer-phone": ".threads { display: block; }",
};

for (const [name, css] of Object.entries(BROKEN))
  test(`a picture of the page with ${css} is another one`, async (context) => {
    const tab = await context.newPage();
    const taken = await halved(tab, await pictureOf(context.browser()!, PICTURE_STATES[name]!, COMPARABLE + css));
    assert.ok((await difference(tab, { kept: kept(name), taken })) > TOLERANCE);
  });
