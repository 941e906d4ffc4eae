import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DurableEvent, HarnessEvent } from "@cinch/core";
import { ExitCode } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { RunProcess } from "./run-process.ts";
import { violations, journalOf, ledgerOf, type CallRecord } from "./proof.ts";
import { DemoView } from "./demo-view.ts";

const FIRST = "My name is Ada. What time is it and what is 6*7?";
const SECOND = "Count to 6 slowly with the counter tool, then roll two dice, then tell me my name.";
/** The process is killed while it counts this number. */
const FATAL = 4;
const MOMENT_MS = 500;
/** Commands that the demonstration suggests at its end. */
const TRY = [
  [
    `CRASH_AT=tool_end:inside:3 ${cinch} run --model offline "count to 6 slowly"`,
    "a process that is killed at its third result, as by kill -9",
  ],
  [`${cinch} run --continue`, "the next process continues the turn"],
  [`${cinch} run --model offline help`, "what the offline model can do"],
  [`${cinch} --help`, "all options"],
] as const;

/** Kills the process of a conversation in the middle of a turn, and continues the turn in another one. */
export async function demo(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-demo-"));
  const stage = new Stage(folder);
  const cleanUp = () => {
    stage.child?.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", cleanUp);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => process.exit(ExitCode.aborted));
  process.stdout.once("error", () => process.exit(ExitCode.pipeClosed));
  return perform(stage);
}

/** The files of the demonstration, and its current process. */
class Stage {
  readonly db: string;
  readonly ledger: string;
  child: RunProcess | undefined;

  constructor(folder: string) {
    this.db = join(folder, "cinch.db");
    this.ledger = join(folder, "ledger.jsonl");
  }

  start(...args: string[]): RunProcess {
    const env = { CINCH_MODEL: "offline", CINCH_LEDGER: this.ledger, CINCH_OFFLINE_DELAY_MS: "40" };
    this.child = new RunProcess([...args, "--db", this.db], env);
    return this.child;
  }
}

async function perform(stage: Stage): Promise<number> {
  const view = new DemoView();
  process.stdout.write("Cinch: a conversation that survives kill -9.\n");
  process.stdout.write(
    "The model is the built-in offline one; the tools, the processes, the file and the kill are real.\n",
  );

  const talk = stage.start(FIRST);
  view.heading(`1. A conversation with tools (process ${talk.pid})`);
  let threadId = "";
  for await (const event of talk.events()) {
    threadId = event.threadId;
    view.event(event);
  }
  if ((await talk.exited()) !== ExitCode.complete) return failed("The first process failed.");
  await sleep(MOMENT_MS);

  const doomed = stage.start("--continue", SECOND);
  view.heading(`2. A longer turn, in another process (${doomed.pid}), which dies in the middle of it`);
  for await (const event of doomed.events()) {
    view.event(event);
    if (!isFatal(event)) continue;
    await hasBegun(stage.ledger, FATAL);
    await sleep(200);
    doomed.kill();
    view.line("", `kill -9 ${doomed.pid}, while counter ${FATAL} runs`);
  }
  if ((await doomed.exited()) !== null) return failed("The second process was not killed.");
  await sleep(MOMENT_MS * 2);

  const successor = stage.start("--continue");
  view.heading(`3. A third process (${successor.pid}) opens the same file`);
  let found = 0;
  for await (const event of successor.events()) {
    if (event.type === "resync") found = event.seq;
    view.event(event);
  }
  if ((await successor.exited()) !== ExitCode.complete) return failed("The third process failed.");
  const journal = await journalOf(stage.db, threadId);
  return report({ view, journal, found, ledger: await ledgerOf(stage.ledger), dead: doomed.pid });
}

const isFatal = (event: HarnessEvent): boolean =>
  event.type === "tool_start" && event.toolName === "counter" && numberOf(event.args) === FATAL;

const numberOf = (args: unknown): unknown => (args as { number?: unknown } | null)?.number;

/** Waits for the line of the tool in the ledger: `tool_start` is in the journal before the tool runs. */
async function hasBegun(ledger: string, number: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await readFile(ledger, "utf8")).includes(`"number":${number}`)) return;
    await sleep(5);
  }
}

interface Evidence {
  view: DemoView;
  journal: readonly DurableEvent[];
  /** The last event that the third process found. */
  found: number;
  ledger: readonly CallRecord[];
  dead: number;
}

function report({ view, journal, found, ledger, dead }: Evidence): number {
  const kept = journal.filter(({ seq }) => seq <= found);
  const messages = kept.filter((event) => event.type === "message_end" && event.message.role !== "note").length;
  const results = kept.filter(({ type }) => type === "tool_end").length;
  view.heading("What was kept when the process died");
  view.line("", `${messages} messages and ${results} tool results, in ${found} events; no prompt had to be repeated`);

  view.heading("What ran (each tool records when it begins and when it ends)");
  for (const {
    call,
    begun: [pid],
    ended,
  } of ledger) {
    const end = ended.length > 0 ? "ended" : "did not end: reported to the model as unknown, and not repeated";
    view.line("", `${call.padEnd(16)} began in ${pid}${pid === dead ? " †" : "  "}  ${end}`);
  }

  const wrong = violations(journal, ledger);
  if (wrong.length > 0) return failed(`Cinch broke its promise: ${wrong.join("; ")}.`);
  const ended = ledger.filter((ran) => ran.ended.length > 0).length;
  view.heading("Checked");
  view.line(
    "",
    `${ledger.length} calls began, each once; ${ended} ended, none of them ran again; ${ledger.length - ended} is unknown`,
  );
  view.line("", `the journal has ${journal.length} events, without a gap; the interrupted turn is complete`);
  view.heading("Try it yourself");
  // The explanation is on a line of its own, so that the line of the command can be copied.
  for (const [command, about] of TRY) {
    view.line("", command);
    view.line("", `    ${about}`);
  }
  return ExitCode.complete;
}

function failed(why: string): number {
  process.stderr.write(`${why}\n`);
  return ExitCode.error;
}
