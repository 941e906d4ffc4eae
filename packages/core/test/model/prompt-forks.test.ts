import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTranscript, reduceTranscript, toPrompt, type Transcript } from "@cinch/core/journal";
import type { DurableEvent } from "@cinch/core";
import * as fc from "fast-check";
import { BLOB, journals } from "../../../testkit/src/journal.ts";

const head = { system: "s", tools: [] };
const promptOf = async (transcript: Transcript): Promise<string> =>
  JSON.stringify(await toPrompt(head, transcript, async () => BLOB));

const folded = (events: readonly DurableEvent[]): Transcript => events.reduce(reduceTranscript, emptyTranscript);

test("two threads that continue the same conversation do not change each other's prompts", async () => {
  await fc.assert(
    fc.asyncProperty(journals, journals, fc.nat(), async (first, second, place) => {
      const shared = folded(first.slice(0, place % first.length));
      const before = await promptOf(shared);
      const [one, other] = [first.slice(place % first.length), second.slice(1)].map((rest) =>
        rest.reduce(reduceTranscript, shared),
      ) as [Transcript, Transcript];
      const [oneFirst, otherThen] = [await promptOf(one), await promptOf(other)];
      assert.deepEqual(
        [await promptOf(one), await promptOf(other), await promptOf(shared)],
        [oneFirst, otherThen, before],
      );
      // A transcript that was folded anew has no prompt to continue.
      assert.equal(oneFirst, await promptOf(folded(first)));
    }),
    { numRuns: 200 },
  );
});
