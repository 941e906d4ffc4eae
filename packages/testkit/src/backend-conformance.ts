import { describe, test } from "node:test";
import type { Backend } from "@cinch/workspace";
import type { Reach } from "@cinch/workspace/backend";
import { aborting } from "./backend-conformance/aborting.ts";
import { conditions } from "./backend-conformance/conditions.ts";
import { deleting } from "./backend-conformance/deleting.ts";
import { globbing, ignoring } from "./backend-conformance/globbing.ts";
import { grepping } from "./backend-conformance/grepping.ts";
import { hostile } from "./backend-conformance/hostile.ts";
import { listing } from "./backend-conformance/listing.ts";
import { naming } from "./backend-conformance/naming.ts";
import { undo } from "./backend-conformance/undo.ts";
import { reading } from "./backend-conformance/reading.ts";
import { Files, type BackendCheck } from "./backend-conformance/files.ts";
import { streaming } from "./backend-conformance/streaming.ts";
import { writing } from "./backend-conformance/writing.ts";

/** A backend under test, with nothing in it. */
export interface BackendUnderTest {
  backend: Backend;
  /** Passed to every call of the backend. */
  reach: Reach;
  /** Directories in the root that always exist, such as the routes of a composite. */
  always?: readonly string[];
  /** The backend keeps contents in memory, so the tests do not limit what a large file takes. */
  inMemory?: boolean;
  dispose?(): Promise<void>;
}

/**
 * Registers tests for everything that the interface `Backend` promises. `streams: false` omits those that measure memory: beside many
 * other tests they belong in a process of their own, with `backendStreams`.
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

/** Registers tests that large files are streamed, without being held in memory. */
export function backendStreams(name: string, make: () => Promise<BackendUnderTest>): void {
  // Not concurrent, because the tests measure memory.
  describe(`${name} streams`, () => streaming(checkOn(make)));
}

const GROUPS = [
  reading,
  writing,
  conditions,
  listing,
  deleting,
  undo,
  naming,
  globbing,
  ignoring,
  grepping,
  hostile,
  aborting,
];

const checkOn =
  (make: () => Promise<BackendUnderTest>): BackendCheck =>
  (sentence, body) => {
    test(sentence, { timeout: 300_000 }, async () => {
      const made = await make();
      try {
        await body(new Files(made), { inMemory: made.inMemory ?? false });
      } finally {
        await made.backend.close?.();
        await made.dispose?.();
      }
    });
  };
