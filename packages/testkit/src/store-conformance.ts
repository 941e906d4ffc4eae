import { describe, test } from "node:test";
import type { Store } from "@cinch/core";
import { appending } from "./store-conformance/appending.ts";
import { deletingThreads, blobLifetime } from "./store-conformance/contents.ts";
import { findingEvents } from "./store-conformance/event-searches.ts";
import { families, leftovers } from "./store-conformance/families.ts";
import { clonesAndRewinds, inputIds, readingJournals } from "./store-conformance/journals.ts";
import { leasing } from "./store-conformance/leasing.ts";
import { listingThreads } from "./store-conformance/lists.ts";
import type { MortalStore, StoreCheck } from "./store-conformance/samples.ts";
import { savedFolds } from "./store-conformance/saved-folds.ts";
import { searching } from "./store-conformance/searches.ts";
import { followingLists } from "./store-conformance/list-changes.ts";
import { announcing, driven, fairness, waking } from "./store-conformance/waking.ts";
import { drafting, following } from "./store-conformance/watching.ts";

/**
 * A store under test, open and empty. `another` opens a second store on the same data, as another process would. `mortal` opens one in a
 * process that `kill` ends, as `kill -9` does.
 */
export interface StoreUnderTest {
  store: Store;
  another?(): Promise<Store>;
  mortal?(): Promise<MortalStore>;
  dispose(): Promise<void>;
}

/** Registers tests for everything that the port `Store` promises. */
export function storeConformance(name: string, make: () => Promise<StoreUnderTest>): void {
  const check: StoreCheck = (sentence, body) => {
    test(sentence, { timeout: 30_000 }, async (t) => {
      const made = await make();
      try {
        if (body.length > 1 && !made.another) return t.skip("no second store object on the same data");
        if (body.length > 2 && !made.mortal) return t.skip("no store whose process can be killed");
        await body(
          made.store,
          async () => made.another!(),
          async () => made.mortal!(),
        );
      } finally {
        await made.dispose();
      }
    });
  };
  describe(`${name} keeps what a store promises`, { concurrency: 4 }, () => {
    for (const group of [
      appending,
      leasing,
      driven,
      waking,
      fairness,
      announcing,
      readingJournals,
      inputIds,
      clonesAndRewinds,
      deletingThreads,
      families,
      leftovers,
      blobLifetime,
      drafting,
      savedFolds,
      following,
      followingLists,
      listingThreads,
      searching,
      findingEvents,
    ]) {
      group(check);
    }
  });
}
