import assert from "node:assert/strict";
import { test } from "node:test";
import { observationalMemory } from "@cinch/memory";
import { simulated, worker } from "./simulation.ts";

test("the events of one moment say the same of how full the memory is", async () => {
  const memory = observationalMemory({ messageTokens: 4_000, observationTokens: 2_000 });
  await using simulation = await simulated(worker(30), { memory, patient: true });
  await simulation.harness.sendMessage({ content: "Look." });
  const told = simulation.seen.flatMap((event) =>
    event.type === "om_status" || event.type === "om_buffering_start"
      ? [{ type: event.type, fullness: [event.messageTokens, event.observationTokens] }]
      : [],
  );
  const begun = [...told.entries()].filter(([, { type }]) => type === "om_buffering_start");
  assert.ok(begun.length > 1);
  for (const [at, { fullness }] of begun) assert.deepEqual(fullness, told[at - 1]?.fullness);
});
