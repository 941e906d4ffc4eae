import { appendFileSync, closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import process from "node:process";
import { sqliteStore } from "@cinch/sqlite";
import { crashWhenEmitted } from "./emitted.ts";
import { mainThread, playScenario, tortureHarness, until } from "./scenario.ts";

/** One process of the torture: `child FOLDER`. It dies where `CRASH_AT` says, or plays the scenario to its end. */
const folder = process.argv[2]!;

const store = sqliteStore({ path: `${folder}/cinch.db` });
const h = tortureHarness(store, `${folder}/ledger`);
crashWhenEmitted(h);

/** What was answered to a caller is written down at once: the oracle looks for it in the store. */
function accepted(what: string): void {
  const file = openSync(`${folder}/accepted`, "a");
  writeSync(file, `${what}\n`);
  fsyncSync(file);
  closeSync(file);
}

await h.init();
const opened = Date.now();
if ((await h.listThreads()).length > 0) {
  await mainThread(h);
  await until(
    h,
    ({ status }) => status === "idle" || status === "waiting" || h.getDisplayState().currentMessage !== null,
  );
}
appendFileSync(`${folder}/settled`, `${Date.now() - opened}\n`);
await playScenario(h, store, accepted);
await h.close();
appendFileSync(`${folder}/done`, "done\n");
