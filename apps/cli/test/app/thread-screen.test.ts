import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ThreadPrinter } from "../../src/app/thread-printer.ts";
import { line } from "../../src/terminal/line.ts";
import { Screen } from "../../src/terminal/screen.ts";
import type { Size } from "../../src/terminal/terminal-port.ts";
import { Headless, TestClock } from "../terminal/headless.ts";
import { features } from "../terminal/stage.ts";
import { drawn, framesOf, play, recorded, shapes, wordsIn } from "./random-story.ts";
import { Story, type Moment } from "./story.ts";

const sizes = fc.record({ columns: fc.integer({ min: 30, max: 90 }), rows: fc.integer({ min: 5, max: 24 }) });

/** The words on a terminal and in its scrollback, after a story was shown in these frames, each in the next of these sizes. */
async function wordsShown(moments: readonly Moment[], resizes: readonly Size[]): Promise<string[]> {
  const printer = new ThreadPrinter();
  const output = new Headless(resizes[0]!);
  let { display, activity } = moments[0]!;
  const frame = () => {
    const { columns: width, rows } = output.size();
    const { print, live } = printer.next(display, { width, rows, now: 0, unicode: true, activity });
    return { print, live: [...live, line("> ")], cursor: { row: live.length, column: 2 } };
  };
  const screen = new Screen({ output, clock: new TestClock(), features, frame });
  for (const [at, moment] of moments.entries()) {
    ({ display, activity } = moment);
    screen.draw();
    await output.settled();
    const size = resizes[(at + 1) % resizes.length]!;
    if (resizes.length > 1) await output.resize(size);
  }
  return wordsIn(output.linesBefore(output.rows().length));
}

test("the scrollback of a terminal has each word of a thread once", async () => {
  await fc.assert(
    fc.asyncProperty(shapes, drawn, sizes, async (all, places, size) => {
      const story = play(new Story(), all);
      assert.deepEqual(await wordsShown(framesOf(story, places), [size]), wordsIn(recorded(story)));
    }),
    { numRuns: 25 },
  );
});

test("whatever the sizes of the terminal are meanwhile, no word is lost, and all are in order", async () => {
  await fc.assert(
    fc.asyncProperty(shapes, drawn, fc.array(sizes, { minLength: 2, maxLength: 4 }), async (all, places, resizes) => {
      const story = play(new Story(), all);
      const found = await wordsShown(framesOf(story, places), resizes);
      // A terminal that is made smaller may leave a copy of live rows.
      let at = -1;
      for (const word of wordsIn(recorded(story))) {
        at = found.indexOf(word, at + 1);
        assert.notEqual(at, -1, word);
      }
    }),
    { numRuns: 25 },
  );
});
