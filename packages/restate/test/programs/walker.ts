import process from "node:process";
import { graphilePlacement, postgresStore } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { walkerHarness } from "../walker-harness.ts";
import type { WalkerOptions, WalkerOrder, WalkerReport, WalkerUse } from "../walker-process.ts";

/** A worker or a front: `walker OPTIONS`. */
const { by, role, store, engine } = JSON.parse(process.argv[2]!) as WalkerOptions;
const report = (what: WalkerReport) => process.send!(what);
const harness = walkerHarness({
  by,
  ran: (run) => report({ ran: run }),
  storage: postgresStore(store),
  placement: engine === "graphile" ? graphilePlacement() : restatePlacement(engine),
  ...(role === "worker" && { worker: {} }),
});
// The test has ended, in whatever way.
process.once("disconnect", () => process.exit(1));
process.on("message", async (order: WalkerOrder) => report(await carriedOut(order)));
await harness.init();
report({ served: Date.now() });

async function carriedOut(order: WalkerOrder): Promise<WalkerReport> {
  switch (order.order) {
    case "post": {
      const seat = await harness.createSession({ threadId: order.threadId });
      await seat.post({ content: order.content, delivery: "send" });
      return { posted: true };
    }
    case "approve":
      return { statuses: await approve(order.threadIds) };
    case "driven":
      return { driven: (await harness.metrics()).driven };
    case "use":
      return { use: used() };
  }
}

async function approve(threadIds: readonly string[]): Promise<string[]> {
  const seats = await Promise.all(threadIds.map((threadId) => harness.createSession({ threadId })));
  await Promise.all(seats.map((seat) => seat.respondToToolApproval({ decision: "approve" })));
  return Promise.all(seats.map(async (seat) => (await seat.settled()).status));
}

function used(): WalkerUse {
  globalThis.gc!();
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  return { heapBytes: process.memoryUsage().heapUsed, timers };
}
