/** A Postgres server of its own in a folder, which syncs each commit as by default. It ends with this process. */
import { chmodSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startServer } from "../../../packages/postgres/test/server.ts";
import { built } from "../built.mjs";

export async function postgresIn(folder) {
  // The server runs as another user.
  chmodSync(folder, 0o755);
  const { url, pid } = await startServer(join(folder, "data"), { isDurable: true });
  process.once("exit", () => process.kill(pid, "SIGQUIT"));
  return { url, pid };
}

export async function storeAt(url, options = {}) {
  const { postgresStore } = await built("postgres");
  const store = postgresStore({ url, ...options });
  await store.open();
  return store;
}

/** The CPU time of a process and its children, in milliseconds. */
export function cpuOf(parent) {
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, "utf8");
        return [text.slice(text.lastIndexOf(")") + 2).split(" ")];
      } catch {
        return [];
      }
    });
  const own = readFileSync(`/proc/${parent}/stat`, "utf8");
  const all = [
    own.slice(own.lastIndexOf(")") + 2).split(" "),
    ...stats.filter((fields) => Number(fields[1]) === parent),
  ];
  // User and system time in hundredths of a second; of the parent also that of children that have ended.
  const ended = Number(all[0][13]) + Number(all[0][14]);
  return 10 * (ended + all.reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0));
}

export const event = (type, fields = {}) => ({ type, v: 1, at: Date.now(), ...fields });
export const created = (resourceId = "bench") => event("thread_created", { title: "A thread", resourceId });
export const says = (text) =>
  event("message_end", { message: { id: "m", role: "assistant", content: [{ type: "text", text }] } });
