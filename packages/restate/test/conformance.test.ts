import { restatePlacement } from "@cinch/restate";
import { placementConformance } from "@cinch/testkit";
import { bundle } from "../../testkit/test/bundle.ts";
import { freePort } from "../../testkit/test/free-port.ts";
import { sharedRestate } from "./server.ts";

const file = await bundle(new URL("./programs/placement-host.ts", import.meta.url));

placementConformance("restate", async () => {
  const { ingress, admin, identity } = await sharedRestate();
  const options = { ingress, admin, identity, advertise: `http://127.0.0.1:${await freePort()}` };
  return {
    placement: async () => restatePlacement(options),
    program: { file, data: options },
    dispose: async () => undefined,
  };
});
