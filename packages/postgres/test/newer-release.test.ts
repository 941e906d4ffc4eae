import { postgresStore } from "@cinch/postgres";
import { testNewerRelease } from "../../core/test/thread/newer-release.ts";
import { Place } from "./place.ts";

testNewerRelease(async () => {
  const place = await Place.make();
  return {
    store: () => place.add(postgresStore(place.options)),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
});
