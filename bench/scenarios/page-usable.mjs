/** From the navigation of a browser that was never here until the page can be used: empty, and at a thread of 200 messages. */
import { ANSWER } from "../lib/serving/answer.mjs";
import { median } from "../lib/numbers.mjs";
import { filled, pageAt } from "../lib/serving/page-at.mjs";
import { textModel } from "../lib/serving/served.mjs";

const REPEATS = 7;

export default async function pageUsable({ folder, messages }) {
  const page = await pageAt({ folder, model: textModel(() => [ANSWER]) });
  const { id } = await filled(page.harness, messages);
  const times = { empty: [], thread: [] };
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    times.empty.push(await usable(await page.tab(), "#message"));
    times.thread.push(await usable(await page.tab(`#/t/${id}`), ".message.assistant"));
  }
  await page.close();
  return {
    emptyMs: median(times.empty),
    threadMs: median(times.thread),
    worstMs: Math.max(...times.empty, ...times.thread),
  };
}

/** The time of the frame in which the composer has the focus and the selector is drawn. */
async function usable(tab, selector) {
  const ms = await tab.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        const look = (now) =>
          document.querySelector(wanted) && document.activeElement?.id === "message"
            ? resolve(globalThis.usableAt ?? now)
            : requestAnimationFrame(look);
        requestAnimationFrame(look);
      }),
    selector,
  );
  await tab.context().close();
  return ms;
}
