import { appendFileSync } from "node:fs";
import process from "node:process";
import { sqliteStore } from "@cinch/sqlite";
import { crashWhenEmitted } from "./crash-point.ts";
import { mainThread, playScenario, tortureHarness } from "./scenario.ts";
import { until } from "./until.ts";

/** One process of the torture: `child FOLDER [HALF]`. It plays the scenario, or its first half, unless `CRASH_AT` kills it. */
const [folder = "", half = ""] = process.argv.slice(2);

const store = sqliteStore({ path: `${folder}/cinch.db` });
const h = tortureHarness(store, `${folder}/ledger`);
crashWhenEmitted(h);

/** Records each accepted command at once. The oracle looks for it in the store. */
const accepted = (what: string) => appendFileSync(`${folder}/accepted`, `${what}\n`);

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
await playScenario(h, store, { accepted, control: half === "" });
await h.close();
appendFileSync(`${folder}/done`, "done\n");
