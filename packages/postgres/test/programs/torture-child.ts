import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import { postgresStore } from "@cinch/postgres";
import { crashWhenEmitted, mainThread, playScenario, tortureHarness } from "@cinch/testkit";

/** One process of the torture: `torture-child FOLDER [half]`, as that of the testkit, with the store in the schema that the folder is named after. */
const [folder = "", half = ""] = process.argv.slice(2);
const store = postgresStore({ url: process.env["TORTURED_URL"]!, schema: basename(folder) });
const h = tortureHarness(store, `${folder}/ledger`);
crashWhenEmitted(h);

await h.init();
const opened = Date.now();
if ((await h.listThreads()).length > 0) {
  await mainThread(h);
  const isSettled = () => {
    const { status, currentMessage } = h.getDisplayState();
    return status === "idle" || status === "waiting" || currentMessage !== null;
  };
  while (!isSettled()) await new Promise((resolve) => setTimeout(resolve, 10));
}
appendFileSync(`${folder}/settled`, `${Date.now() - opened}\n`);
const accepted = (what: string) => appendFileSync(`${folder}/accepted`, `${what}\n`);
await playScenario(h, store, { accepted, control: half === "" });
await h.close();
appendFileSync(`${folder}/done`, "done\n");
