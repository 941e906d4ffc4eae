import type { Store, ThreadRecord } from "@cinch/core";
import type { ListOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import { terminalJson } from "../terminal-json.ts";
import { listFrom } from "./open-store.ts";

/** `waiting`: for a person. `unfinished`: it has work left, and no process drives it. */
type ListedStatus = "idle" | "running" | "waiting" | "unfinished";

interface ListedThread extends ThreadRecord {
  status: ListedStatus;
}

/** `cinch threads list`. */
export async function listThreads({ db, json, query, limit }: ListOptions): Promise<number> {
  const threads = await listFrom({ db }, async ({ store, harness }) => {
    const found = await store.threads({
      topLevel: true,
      ...(query === undefined ? {} : { query }),
      ...(limit === undefined ? {} : { limit }),
    });
    const waiting = new Set((await harness.pending()).map(({ rootThreadId }) => rootThreadId));
    return Promise.all(
      found.map(async (thread) => ({
        ...thread,
        status: waiting.has(thread.id) ? ("waiting" as const) : await statusOf(store, thread),
      })),
    );
  });
  if (json) process.stdout.write(`${terminalJson(threads, 2)}\n`);
  else process.stdout.write(threads.map(line).join(""));
  if (threads.length === 0 && !json)
    process.stderr.write(query === undefined ? `There are no threads yet: ${cinch} run "…"\n` : "No thread matches.\n");
  return ExitCode.complete;
}

async function statusOf(store: Store, { id, active }: ThreadRecord): Promise<ListedStatus> {
  if (!active) return "idle";
  return (await store.lease(id)).status === "held" ? "running" : "unfinished";
}

const line = ({ id, title, updatedAt, status }: ListedThread): string =>
  `${id}  ${status.padEnd(10)}  ${ageOf(Date.now() - updatedAt).padStart(7)}  ${short(title, 80) || "(no title)"}\n`;

/** Such as `5 min`. */
export function ageOf(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
