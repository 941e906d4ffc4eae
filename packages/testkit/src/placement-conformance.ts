import { after, describe, test } from "node:test";
import { deliveries } from "./placement-conformance/deliveries.ts";
import { drains } from "./placement-conformance/drains.ts";
import { deaths } from "./placement-conformance/deaths.ts";
import { Engine, type PlacementCheck, type PlacementUnderTest } from "./placement-conformance/engine.ts";
import { misplacements } from "./placement-conformance/misplacements.ts";
import { PlacementProcess } from "./placement-conformance/placement-process.ts";
import { repetitions } from "./placement-conformance/repetitions.ts";

/**
 * Registers tests for everything that the port `Placement` promises while its engine is up: that wakes are delivered, repeated, lost and
 * misplaced only as workers expect, and that workers can leave. With a program, also between processes, which are killed and stopped.
 */
export function placementConformance(name: string, make: () => Promise<PlacementUnderTest>): void {
  describe(`${name} keeps what a placement promises`, { concurrency: 4 }, () => {
    const check: PlacementCheck = (sentence, body) => {
      test(sentence, { timeout: 300_000 }, async () => {
        await using engine = new Engine(await make());
        await body(engine);
      });
    };
    for (const group of [deliveries, repetitions, misplacements, drains]) group(check);
  });

  describe(`${name} keeps what a placement promises between processes`, { concurrency: 4 }, () => {
    let neighbour: PlacementProcess | undefined;
    after(() => neighbour?.kill());
    const check: PlacementCheck = (sentence, body) => {
      test(sentence, { timeout: 300_000 }, async (t) => {
        const made = await make();
        if (!made.program) {
          await made.dispose();
          return t.skip("no program for another process");
        }
        neighbour ??= new PlacementProcess(made.program.file);
        await using engine = new Engine(made, neighbour);
        await body(engine);
      });
    };
    for (const group of [deliveries, drains, deaths]) group(check);
  });
}
