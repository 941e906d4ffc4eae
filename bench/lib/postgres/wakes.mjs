import { join } from "node:path";
import { askedProcess } from "../asked-process.mjs";
import { built } from "../built.mjs";
import { ownRestate } from "../../../packages/restate/test/server.ts";
import { freePort } from "../../../packages/testkit/test/free-port.ts";

/** `engine`: "graphile", or the options of Restate. */
export async function placementOf(engine) {
  if (engine === "graphile") return (await built("postgres")).graphilePlacement();
  return (await built("restate")).restatePlacement(engine);
}

export const wakeWorker = () => askedProcess(join(import.meta.dirname, "wake-worker.mjs"));

/** The options of a Restate server of its own, which ends with this process. */
export async function restateEngine() {
  const { ingress, admin, identity } = await ownRestate();
  return { ingress, admin, identity, advertise: `http://127.0.0.1:${await freePort()}` };
}
