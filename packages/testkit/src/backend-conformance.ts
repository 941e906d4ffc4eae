import { describe, test } from "node:test";
import type { Backend, Reach } from "@cinch/workspace";
import { aborting } from "./backend-conformance/aborting.ts";
import { conditions } from "./backend-conformance/conditions.ts";
import { deleting } from "./backend-conformance/deleting.ts";
import { globbing, ignoring } from "./backend-conformance/globbing.ts";
import { grepping } from "./backend-conformance/grepping.ts";
import { hostile } from "./backend-conformance/hostile.ts";
import { listing } from "./backend-conformance/listing.ts";
import { naming } from "./backend-conformance/naming.ts";
import { picturing } from "./backend-conformance/picturing.ts";
import { reading } from "./backend-conformance/reading.ts";
import { Files, type Check } from "./backend-conformance/sample.ts";
import { streaming } from "./backend-conformance/streaming.ts";
import { writing } from "./backend-conformance/writing.ts";

/** A backend under test, with nothing in it. */
export interface BackendUnderTest {
  backend: Backend;
  /** Who acts. */
  reach: Reach;
  /** Directories in the root that are there before anything is, such as the routes of a composite. */
  always?: readonly string[];
  /** It keeps contents in memory, so that large files take as much as they are large. */
  inMemory?: boolean;
  dispose?(): Promise<void>;
}

/**
 * Registers a test for everything that the interface `Backend` promises. `streams: false` leaves out those that measure memory: in a
 * process with many other tests they are better called by themselves, with `backendStreams` in a process of their own.
 */
export function backendConformance(
  name: string,
  make: () => Promise<BackendUnderTest>,
  { streams = true }: { streams?: boolean } = {},
): void {
  const check = checkOn(make);
  describe(`${name} keeps what a backend promises`, { concurrency: 4 }, () => {
    for (const group of GROUPS) group(check);
  });
  if (streams) backendStreams(name, make);
}

/** Registers tests that large files pass through, without being held. */
export function backendStreams(name: string, make: () => Promise<BackendUnderTest>): void {
  // One after the other: what is held in memory is measured.
  describe(`${name} streams`, () => streaming(checkOn(make)));
}

const GROUPS = [
  reading,
  writing,
  conditions,
  listing,
  deleting,
  picturing,
  naming,
  globbing,
  ignoring,
  grepping,
  hostile,
  aborting,
];

const checkOn =
  (make: () => Promise<BackendUnderTest>): Check =>
  (sentence, body) => {
    test(sentence, { timeout: 30_000 }, async (t) => {
      const made = await make();
      try {
        await body(new Files(made), { inMemory: made.inMemory ?? false, skip: (why) => t.skip(why) });
      } finally {
        await made.backend.close?.();
        await made.dispose?.();
      }
    });
  };
