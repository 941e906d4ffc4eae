import { setTimeout as pause } from "node:timers/promises";
import { signalPid } from "../../../postgres/test/mortal-postgres.ts";
import type { MemberProcess } from "./member-process.ts";
import type { Team } from "./team.ts";

/** What it is done to, and what is done. */
interface Fault {
  target: "worker" | "front" | "postgres" | "restate";
  happen(team: Team, member: MemberProcess): Promise<string>;
}

const between = (least: number, most: number): number => least + Math.random() * (most - least);
const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

async function killMember(_: Team, member: MemberProcess): Promise<string> {
  await member.kill();
  await pause(between(0, 2_000));
  await member.start();
  return "was killed";
}

async function stopMember(_: Team, member: MemberProcess): Promise<string> {
  const ms = between(500, 6_000);
  member.signal("SIGSTOP");
  await pause(ms);
  member.signal("SIGCONT");
  return `was stopped for ${Math.round(ms)} ms`;
}

async function stopPostgres({ postgres }: Team): Promise<string> {
  const ms = between(500, 5_000);
  await postgres!.stopFor(ms);
  return `was stopped for ${Math.round(ms)} ms`;
}

async function stopRestate({ restate }: Team): Promise<string> {
  const ms = between(500, 5_000);
  signalPid(restate!.pid, "SIGSTOP");
  await pause(ms);
  signalPid(restate!.pid, "SIGCONT");
  return `was stopped for ${Math.round(ms)} ms`;
}

async function killPostgres({ postgres }: Team): Promise<string> {
  await postgres!.kill();
  await pause(between(200, 1_500));
  await postgres!.start();
  return "was killed";
}

async function killBackend({ postgres }: Team): Promise<string> {
  postgres!.killOne();
  return "lost one of its processes";
}

async function killRestate({ restate }: Team): Promise<string> {
  await restate!.kill();
  await pause(between(200, 2_000));
  await restate!.start();
  return "was killed";
}

const FAULTS: readonly Fault[] = [
  { target: "worker", happen: killMember },
  { target: "worker", happen: stopMember },
  { target: "worker", happen: killMember },
  { target: "worker", happen: stopMember },
  { target: "front", happen: killMember },
  { target: "front", happen: stopMember },
  { target: "postgres", happen: killPostgres },
  { target: "postgres", happen: killBackend },
  { target: "postgres", happen: stopPostgres },
  { target: "restate", happen: killRestate },
  { target: "restate", happen: stopRestate },
];

/**
 * Begins a fault every 3 to 5 seconds, each kind as often as the others, and returns what happened. Some last longer than that. It ends
 * after `forMs`, and not before so many messages were accepted: on a busy machine they take longer.
 */
export async function injectFaults(
  team: Team,
  { forMs, messages = 0 }: { forMs: number; messages?: number },
): Promise<string[]> {
  const kinds = FAULTS.filter(({ target }) => (target === "postgres" || target === "restate" ? team[target] : true));
  const log: string[] = [];
  const failures: unknown[] = [];
  const lasting = new Map<string, Promise<void>>();
  const started = Date.now();
  let waiting: Fault[] = [];
  while (Date.now() - started < forMs || team.accepted() < messages) {
    await pause(between(3_000, 5_000));
    if (waiting.length === 0) waiting = kinds.toSorted(() => Math.random() - 0.5);
    const { target, happen } = waiting.pop()!;
    const member = oneOf(team.members.filter(({ role, name }) => role === target && !lasting.has(name)));
    const name = member?.name ?? target;
    if (lasting.has(name) || (!member && target !== "postgres" && target !== "restate")) continue;
    const at = ((Date.now() - started) / 1_000).toFixed(1);
    const happened = happen(team, member!).then(
      (what) => void log.push(`${at} s: ${name} ${what}`),
      (error: unknown) => void failures.push(error),
    );
    lasting.set(
      name,
      happened.finally(() => lasting.delete(name)),
    );
  }
  await Promise.all(lasting.values());
  if (failures.length > 0) throw new AggregateError(failures, "Some faults could not be undone.");
  return log;
}
