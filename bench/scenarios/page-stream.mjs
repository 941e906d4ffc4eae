/** A thread of 200 messages while an answer streams at 200 deltas a second: how smooth the page is. */
import { setTimeout as pause } from "node:timers/promises";
import { ANSWER } from "../lib/serving/answer.mjs";
import { filled, observed, pageAt } from "../lib/serving/page-at.mjs";
import { textModel } from "../lib/serving/served.mjs";

const LAST = "the last delta";

export default async function pageStream({ folder, messages, perSecond, seconds }) {
  const model = textModel(({ prompt }) => (isStream(prompt) ? paced(perSecond, seconds) : [ANSWER]));
  const page = await pageAt({ folder, model });
  const { id, session } = await filled(page.harness, messages);
  const tab = await page.tab(`#/t/${id}`);
  await tab.waitForSelector(".message.assistant");
  await tab.waitForTimeout(2_000);
  await tab.evaluate(() => globalThis.seen.reset());
  // Nothing else looks at the page meanwhile: that would be measured, too.
  await session.sendMessage({ content: "stream" });
  const seen = await observed(tab);
  await tab.waitForSelector(`text=${LAST}`);
  await page.close();
  return seen;
}

const isStream = (prompt) => JSON.stringify(prompt.findLast(({ role }) => role === "user")).includes("stream");

/** Timers are late on a busy machine: what is due is given at once. */
async function* paced(perSecond, seconds) {
  const from = performance.now();
  const text = ANSWER.repeat(20);
  for (let given = 0; given < perSecond * seconds;) {
    await pause(1_000 / perSecond);
    const due = ((performance.now() - from) * perSecond) / 1_000;
    for (; given < Math.min(due, perSecond * seconds); given++) {
      const at = (given * 5) % text.length;
      yield text.slice(at, at + 5);
    }
  }
  yield `\n\n${LAST}`;
}
