import { graphilePlacement, postgresStore, type PostgresOptions } from "@cinch/postgres";
import { hostPlacements } from "@cinch/testkit";

hostPlacements(async (options: PostgresOptions) => {
  const store = postgresStore(options);
  await store.open();
  const placement = graphilePlacement();
  await placement.open!({ store });
  return placement;
});
