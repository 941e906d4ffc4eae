import { storeConformance } from "@cinch/testkit";
import { Place } from "./place.ts";

storeConformance("postgres", async () => {
  const place = await Place.make();
  return {
    store: await place.store(),
    another: () => place.store(),
    dispose: () => place[Symbol.asyncDispose](),
  };
});
