import { storeConformance } from "@cinch/testkit";
import { Place } from "./place.ts";

storeConformance("sqlite", async () => {
  const place = new Place();
  return {
    store: await place.store(),
    another: () => place.store(),
    mortal: async () => {
      const child = await place.child();
      return { append: (...args) => child.call("append", ...args), kill: () => child.kill() };
    },
    dispose: () => place[Symbol.asyncDispose](),
  };
});
