import { storeConformance } from "@cinch/testkit";
import { Place } from "./place.ts";
import { StoreProcess } from "./store-process.ts";

storeConformance("postgres", async () => {
  const place = await Place.make();
  return {
    store: await place.store(),
    another: () => place.store(),
    mortal: async () => {
      const dying = place.add(new StoreProcess());
      const { append } = await dying.store(place.options);
      return { append, kill: () => dying.kill() };
    },
    dispose: () => place[Symbol.asyncDispose](),
  };
});
