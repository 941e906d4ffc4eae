import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { DurableEvent } from "@cinch/core";
import * as fc from "fast-check";
import { hashAtOnce } from "../scheduled.ts";
import { plans } from "./denied-plan.ts";
import { Story } from "./denied-story.ts";

test("a denied tool never runs: whatever the rules, the modes, the answers, the order and the crashes", async (t) => {
  hashAtOnce(t);
  const property = fc.asyncProperty(plans, async (plan) => {
    const story = new Story(plan);
    try {
      await story.play();
    } catch (error) {
      throw new Error(`${inspect(plan, { depth: 9, breakLength: 160 })}\n${journals(story)}`, { cause: error });
    }
  });
  // More of them find more: DENIED_RUNS=20000 takes some minutes.
  await fc.assert(property, { numRuns: Number(process.env["DENIED_RUNS"] ?? 300) });
});

test("the same plan always runs the same way", async (t) => {
  hashAtOnce(t);
  const [plan] = fc.sample(plans, 1);
  const [first, second] = [new Story(plan!), new Story(plan!)];
  await first.play();
  await second.play();
  assert.equal(journals(first), journals(second));
});

const journals = ({ world }: Story): string =>
  [...world.data.threads.keys()].map((id) => `${id}:\n${world.journal(id).map(line).join("\n")}`).join("\n");

function line({ seq, type, ...event }: DurableEvent): string {
  const rest = { ...event, threadId: undefined, v: undefined, at: undefined };
  return `${String(seq).padStart(4)} ${type} ${JSON.stringify(rest).slice(0, 200)}`;
}
