import type { Harness } from "@cinch/core";
import { ExitCode } from "../exit.ts";
import { providers } from "../models/providers.ts";
import { short } from "../terminal/sanitise.ts";
import { candidates, type Candidate, type CandidateSource } from "./candidates.ts";

/** More than a shell can show. */
const MOST_THREADS = 100;

/** `cinch complete -- WORD…`, for the scripts of `cinch completion`: one candidate a line, and after a tab what it is. */
export async function complete(words: readonly string[]): Promise<number> {
  const found = await candidates(words, source);
  process.stdout.write(found.map(({ value, about }) => `${value}\t${short(about, 60)}\n`).join(""));
  return ExitCode.complete;
}

const source: CandidateSource = async (kind, db) => {
  if (kind === "models") return models();
  if (kind === "tokens") return people();
  // Late, because commands and options must complete at once.
  const { listFrom } = await import("../threads/open-store.ts");
  return listFrom({ db }, async ({ store, harness }) => {
    if (kind === "pending") return pendingCandidates(harness);
    const threads = await store.threads({ topLevel: true, limit: MOST_THREADS });
    return threads.map(({ id, title }) => ({ value: id, about: title }));
    // A shell must not print an error into the line that is typed.
  }).catch(() => []);
};

async function pendingCandidates(harness: Harness): Promise<Candidate[]> {
  const { waitingOf } = await import("../pending/waiting.ts");
  const waiting = (await harness.pending()).map(waitingOf);
  return waiting.map(({ id, toolName }) => ({ value: id, about: toolName }));
}

async function people(): Promise<Candidate[]> {
  const { TokenFolder } = await import("../serve/token-folder.ts");
  const tokens = new TokenFolder({ folder: process.cwd(), env: process.env }).list();
  return tokens.map(({ name, may }) => ({ value: name, about: may.join(", ") }));
}

function models(): Candidate[] {
  const named = providers.map(({ name, about, defaultModel }) => ({ value: `${name}/${defaultModel ?? ""}`, about }));
  return [{ value: "offline", about: "built in, rule-based, no network" }, ...named];
}
