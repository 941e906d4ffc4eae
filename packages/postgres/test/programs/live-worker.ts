import process from "node:process";
import { Agent, Harness, type Placement } from "@cinch/core";
import { peerLive, postgresStore, type PostgresOptions } from "@cinch/postgres";
import { say, scriptedBy } from "@cinch/testkit";

/** A worker that others can watch: `live-worker OPTIONS SECRET NAME WORDS`. Its answers are made of its name. */
const [options = "", secret = "", name = "", words = "0"] = process.argv.slice(2);
const text = Array.from({ length: Number(words) }, (_, at) => `${name}${at} `).join("");
/** It brings no wakes: workers look for threads themselves. */
const placement: Placement = {
  serve: async () => undefined,
  wake: async () => undefined,
  drain: async () => undefined,
};

const harness = new Harness({
  id: "worker",
  storage: postgresStore(JSON.parse(options) as PostgresOptions),
  agent: new Agent({ name: "talker", model: scriptedBy(() => say(text, { size: 4, delayMs: 8 })) }),
  placement,
  worker: {},
  live: peerLive({ advertise: "127.0.0.1:0", secret }),
});
await harness.init();
process.send!("ready");
