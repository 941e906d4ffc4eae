import { ExitCode } from "../exit.ts";
import { providers } from "../models/providers.ts";
import { waitingOf, type Waiting } from "../pending/waiting.ts";
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
  const { listFrom } = await import("../threads/open-store.ts");
  return listFrom({ db }, async ({ store, harness }) => {
    if (kind === "pending") return (await harness.pending()).map(waitingOf).map(pendingCandidate);
    const threads = await store.threads({ topLevel: true, limit: MOST_THREADS });
    return threads.map(({ id, title }) => ({ value: id, about: title }));
    // A shell must not print an error into the line that is typed.
  }).catch(() => []);
};

const pendingCandidate = ({ id, toolName }: Waiting): Candidate => ({ value: id, about: toolName });

function models(): Candidate[] {
  const named = providers.map(({ name, about, defaultModel }) => ({ value: `${name}/${defaultModel ?? ""}`, about }));
  return [{ value: "offline", about: "built in, rule-based, no network" }, ...named];
}
