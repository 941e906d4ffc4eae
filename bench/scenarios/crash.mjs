/**
 * Kills its own process at step `at` with SIGKILL. `grace`: two seconds after its result. `sharp`: at the next request to the
 * model. `intool`: inside the tool. A ledger that the products don't know records which calls ran.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export default async function crash({ mode, at, steps, folder, start }) {
  const die = () => {
    process.kill(process.pid, "SIGKILL");
    return pause(1000);
  };
  const host = await start({
    async onTool(n) {
      appendFileSync(join(folder, "ledger"), `${n}\n`);
      if (mode === "intool" && n === at) await die();
    },
    async beforeModel({ kind, done }) {
      if (kind !== "STEPS" || done < at || mode === "intool") return;
      if (mode === "grace") await pause(2000);
      await die();
    },
  });
  await host.open("s1");
  await host.sendMessage("s1", `STEPS ${steps}`);
  throw new Error("it should have died");
}
