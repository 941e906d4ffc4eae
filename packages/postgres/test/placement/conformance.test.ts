import { graphilePlacement } from "@cinch/postgres";
import { placementConformance } from "@cinch/testkit";
import { bundle } from "../../../testkit/test/bundle.ts";
import { Place } from "../place.ts";

const file = await bundle(new URL("../programs/placement-host.ts", import.meta.url));

placementConformance("graphile", async () => {
  const place = await Place.make();
  const store = await place.store();
  return {
    placement: async () => {
      const placement = graphilePlacement();
      await placement.open!({ store });
      return placement;
    },
    program: { file, data: place.options },
    dispose: async () => {
      await place[Symbol.asyncDispose]();
      await place.query(`DROP SCHEMA IF EXISTS "${place.schema}_wakes" CASCADE`);
    },
  };
});
