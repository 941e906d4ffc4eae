import process from "node:process";
import { postgresStore } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { walkerHarness } from "../walker-harness.ts";
import type { WalkerOptions, WalkerOrder, WalkerReport } from "../walker-process.ts";

/** A worker or a front: `walker OPTIONS`. */
const { by, role, store, restate } = JSON.parse(process.argv[2]!) as WalkerOptions;
const report = (what: WalkerReport) => process.send!(what);
const harness = walkerHarness({
  by,
  ran: (run) => report({ ran: run }),
  storage: postgresStore(store),
  placement: restatePlacement(restate),
  ...(role === "worker" && { worker: {} }),
});
// The test has ended, in whatever way.
process.once("disconnect", () => process.exit(1));
process.on("message", async (order: WalkerOrder) => {
  if (order.order === "driven") return report({ driven: (await harness.metrics()).driven });
  const seat = await harness.createSession({ threadId: order.threadId });
  await seat.post({ content: order.content, delivery: "send" });
  return report({ posted: true });
});
await harness.init();
report({ served: Date.now() });
