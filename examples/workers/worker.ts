import { teamHarness, type Servers } from "./harness.ts";

/** A worker: it drives the threads that the placement brings, and those that it finds without a driver. */
const harness = teamHarness(JSON.parse(process.argv[2]!) as Servers, { worker: { maxThreads: 10 } });
await harness.init();
process.send!("ready");
// Turns go on in another worker, from their next step.
process.once("SIGTERM", () => harness.close().then(() => process.disconnect()));
