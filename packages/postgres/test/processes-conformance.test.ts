import { after } from "node:test";
import { storeConformance } from "@cinch/testkit";
import { ordered, type Order } from "./ordered-store.ts";
import { Place } from "./place.ts";
import { StoreProcess } from "./store-process.ts";

const other = new StoreProcess();
after(() => other.kill());

storeConformance("postgres, with the second store in another process,", async () => {
  const place = await Place.make();
  const order: Order = { settled: Promise.resolve() };
  return {
    store: ordered(await place.store(), order),
    another: async () => ordered(place.add(await other.store(place.options)), order),
    mortal: async () => {
      const dying = place.add(new StoreProcess());
      const { append } = await dying.store(place.options);
      return { append, kill: () => dying.kill() };
    },
    dispose: () => place[Symbol.asyncDispose](),
  };
});
