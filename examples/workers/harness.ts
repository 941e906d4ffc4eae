import { setTimeout as pause } from "node:timers/promises";
import { Agent, defineTool, Harness, type HarnessConfig } from "@cinch/core";
import { graphilePlacement, postgresStore } from "@cinch/postgres";
import { restatePlacement, type RestateOptions } from "@cinch/restate";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

/** Where the servers are. */
export interface Servers {
  url: string;
  /** Without Restate, graphile-worker uses the database. */
  restate?: RestateOptions;
}

const LAST = 6;
const weigh = defineTool({
  description: "Weighs a parcel",
  category: "read", // may run again, if its worker dies
  input: z.object({ parcel: z.int() }),
  async execute({ parcel }) {
    await pause(400);
    return `parcel ${parcel} weighed by ${process.env["WORKER"]}`;
  },
});

// One parcel after the other. Replace it by a real model.
const model = scriptedBy(({ prompt }) => {
  const weighed = prompt.filter(({ role }) => role === "tool").length;
  return weighed < LAST ? call("weigh", { parcel: weighed + 1 }) : say(`All ${LAST} parcels are weighed.`);
});

/** The same in all processes, but for their role: with `worker` a process drives threads, without it is a front. */
export function teamHarness({ url, restate }: Servers, role: Pick<HarnessConfig, "worker"> = {}): Harness {
  return new Harness({
    id: "parcels",
    storage: postgresStore({ url }),
    placement: restate ? restatePlacement(restate) : graphilePlacement(),
    agent: new Agent({ name: "scales", model, tools: { weigh } }),
    ...role,
  });
}
