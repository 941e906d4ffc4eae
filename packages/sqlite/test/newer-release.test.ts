import { sqliteStore } from "@cinch/sqlite";
import { testNewerRelease } from "../../core/test/thread/newer-release.ts";
import { Place } from "./place.ts";

testNewerRelease(() => {
  const place = new Place();
  return {
    store: () => place.add(sqliteStore({ path: place.path })),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
});
