import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DurableEvent, HarnessEvent } from "@cinch/core";
import { Exit } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { RunningChild } from "./child.ts";
import { broken, journalOf, ledgerOf, type Ran } from "./proof.ts";
import { Show } from "./show.ts";

const FIRST = "My name is Ada. What time is it and what is 6*7?";
const SECOND = "Count to 6 slowly with the counter tool, then roll two dice, then tell me my name.";
/** The number in whose middle the process is killed. */
const FATAL = 4;
const MOMENT_MS = 500;
/** What to type next. */
const TRY = [
  [
    `CRASH_AT=tool_end:inside:3 ${cinch} run --model offline "count to 6 slowly"`,
    "a process that dies, as by kill -9, at its third result",
  ],
  [`${cinch} run --continue`, "the next one goes on"],
  [`${cinch} run --model offline help`, "what the offline model can do"],
  [`${cinch} --help`, "all options"],
] as const;

/** A conversation whose process is killed in the middle of a turn, and which another process carries on. */
export async function demo(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-demo-"));
  const stage = new Stage(folder);
  const cleanUp = () => {
    stage.child?.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", cleanUp);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(Exit.aborted));
  process.stdout.once("error", () => process.exit(Exit.pipeClosed));
  return perform(stage);
}

/** The folder in which it plays, and the process that plays at the moment. */
class Stage {
  readonly db: string;
  readonly ledger: string;
  child: RunningChild | undefined;

  constructor(folder: string) {
    this.db = join(folder, "cinch.db");
    this.ledger = join(folder, "ledger.jsonl");
  }

  start(...args: string[]): RunningChild {
    const env = { CINCH_MODEL: "offline", CINCH_LEDGER: this.ledger, CINCH_OFFLINE_DELAY_MS: "40" };
    this.child = new RunningChild([...args, "--db", this.db], env);
    return this.child;
  }
}

async function perform(stage: Stage): Promise<number> {
  const show = new Show();
  process.stdout.write("Cinch: a conversation that survives kill -9.\n");
  process.stdout.write(
    "The model is the built-in offline one; the tools, the processes, the file and the kill are real.\n",
  );

  const talk = stage.start(FIRST);
  show.heading(`1. A conversation with tools (process ${talk.pid})`);
  let threadId = "";
  for await (const event of talk.events()) {
    threadId = event.threadId;
    show.event(event);
  }
  if ((await talk.gone()) !== Exit.complete) return failed("The first process failed.");
  await sleep(MOMENT_MS);

  const doomed = stage.start("--continue", SECOND);
  show.heading(`2. A longer turn, in another process (${doomed.pid}), which dies in the middle of it`);
  for await (const event of doomed.events()) {
    show.event(event);
    if (!isFatal(event)) continue;
    await begun(stage.ledger, FATAL);
    await sleep(200);
    doomed.kill();
    show.line("", `kill -9 ${doomed.pid}, while counter ${FATAL} runs`);
  }
  if ((await doomed.gone()) !== null) return failed("The second process was not killed.");
  await sleep(MOMENT_MS * 2);

  const heir = stage.start("--continue");
  show.heading(`3. A third process (${heir.pid}) opens the same file`);
  let found = 0;
  for await (const event of heir.events()) {
    if (event.type === "resync") found = event.seq;
    show.event(event);
  }
  if ((await heir.gone()) !== Exit.complete) return failed("The third process failed.");
  const journal = await journalOf(stage.db, threadId);
  return report({ show, journal, found, ledger: await ledgerOf(stage.ledger), dead: doomed.pid });
}

const isFatal = (event: HarnessEvent): boolean =>
  event.type === "tool_start" && event.toolName === "counter" && numberOf(event.args) === FATAL;

const numberOf = (args: unknown): unknown => (args as { number?: unknown } | null)?.number;

/** `tool_start` is in the journal before the tool begins, so its own line may come a little later. */
async function begun(ledger: string, number: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await readFile(ledger, "utf8")).includes(`"number":${number}`)) return;
    await sleep(5);
  }
}

interface Evidence {
  show: Show;
  journal: readonly DurableEvent[];
  /** The last event that the third process found. */
  found: number;
  ledger: readonly Ran[];
  dead: number;
}

function report({ show, journal, found, ledger, dead }: Evidence): number {
  const kept = journal.filter(({ seq }) => seq <= found);
  const messages = kept.filter(({ type }) => type === "message_end").length;
  const results = kept.filter(({ type }) => type === "tool_end").length;
  show.heading("What was kept when the process died");
  show.line("", `${messages} messages and ${results} tool results, in ${found} events; nothing had to be said again`);

  show.heading("What ran (the tools write this list themselves, when they begin and when they end)");
  for (const {
    call,
    begun: [pid],
    ended,
  } of ledger) {
    const end = ended.length > 0 ? "ended" : "did not end: reported to the model as unknown, and not repeated";
    show.line("", `${call.padEnd(16)} began in ${pid}${pid === dead ? " †" : "  "}  ${end}`);
  }

  const wrong = broken(journal, ledger);
  if (wrong.length > 0) return failed(`That is not what Cinch promises: ${wrong.join("; ")}.`);
  const ended = ledger.filter((ran) => ran.ended.length > 0).length;
  show.heading("Checked");
  show.line(
    "",
    `${ledger.length} calls began, each once; ${ended} ended, none of them ran again; ${ledger.length - ended} is unknown`,
  );
  show.line("", `the journal has ${journal.length} events, without a gap; the turn that was cut off is complete`);
  show.heading("Try it yourself");
  // A line for the command and one for what it does, so that a line can be copied as it is.
  for (const [command, about] of TRY) {
    show.line("", command);
    show.line("", `    ${about}`);
  }
  return Exit.complete;
}

function failed(why: string): number {
  process.stderr.write(`${why}\n`);
  return Exit.error;
}
