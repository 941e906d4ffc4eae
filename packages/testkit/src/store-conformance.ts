import { describe, test } from "node:test";
import type { Store } from "@cinch/core";
import { appending } from "./store-conformance/appending.ts";
import { deleting, keeping } from "./store-conformance/contents.ts";
import { families, remains } from "./store-conformance/families.ts";
import { cutting, finding, reading } from "./store-conformance/journals.ts";
import { leasing } from "./store-conformance/leasing.ts";
import { listing } from "./store-conformance/lists.ts";
import type { Check } from "./store-conformance/sample.ts";
import { caching } from "./store-conformance/caching.ts";
import { searching } from "./store-conformance/searches.ts";
import { drafting, following } from "./store-conformance/watching.ts";

/** A store under test, open and empty. `another` opens a second one on the same data, as another process would. */
export interface StoreUnderTest {
  store: Store;
  another?(): Promise<Store>;
  dispose(): Promise<void>;
}

/** Registers a test for everything that the port `Store` promises. */
export function storeConformance(name: string, make: () => Promise<StoreUnderTest>): void {
  const check: Check = (sentence, body) => {
    test(sentence, { timeout: 30_000 }, async (t) => {
      const made = await make();
      try {
        // Where there can be no second store object, the tests of two seats have but one.
        if (body.length > 1 && !made.another) return t.skip("no second store object on the same data");
        await body(made.store, async () => made.another!());
      } finally {
        await made.dispose();
      }
    });
  };
  describe(`${name} keeps what a store promises`, { concurrency: 4 }, () => {
    for (const group of [
      appending,
      leasing,
      reading,
      finding,
      cutting,
      deleting,
      families,
      remains,
      keeping,
      drafting,
      caching,
      following,
      listing,
      searching,
    ]) {
      group(check);
    }
  });
}
