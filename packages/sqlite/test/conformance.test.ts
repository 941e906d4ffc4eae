import { storeConformance } from "@cinch/testkit";
import { Place } from "./place.ts";

storeConformance("sqlite", async () => {
  const place = new Place();
  return {
    store: await place.store(),
    another: () => place.store(),
    dispose: () => place[Symbol.asyncDispose](),
  };
});
