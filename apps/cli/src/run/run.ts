import { Harness, type HarnessEvent, type Session } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { cliAgent } from "../agent.ts";
import type { RunOptions } from "../cli-command.ts";
import { reportRunEnd, type RunEnd } from "./run-end.ts";
import { ExitCode } from "../exit.ts";
import { TurnInterrupt } from "./turn-interrupt.ts";
import { chooseModel } from "../models/choice.ts";
import { promptOf } from "./prompt.ts";
import { enterThread, type EnteredThread } from "./entered-thread.ts";
import { Shutdown } from "./shutdown.ts";
import { jsonView } from "./json-view.ts";
import { Printer } from "./printer.ts";
import { TextView } from "./text-view.ts";
import { checkDatabase } from "../threads/open-store.ts";
import { TurnWatch } from "./turn-watch.ts";

/** `cinch run`: sends a prompt to a thread, prints what happens, and returns the exit code. */
export async function run(options: RunOptions): Promise<number> {
  using shutdown = new Shutdown();
  const printer = new Printer();
  const model = chooseModel(options.flags.model, process.env);
  if (options.thread.kind !== "new") checkDatabase(options.db);
  const prompt = await promptOf(options, (line) => printer.note(line));
  if (model.fallback && !options.json) {
    printer.note("model: offline (rule-based, built in; set a provider's key or give --model for a real one)");
  }
  const store = sqliteStore({ path: options.db });
  const agent = cliAgent({ model: model.id, ledger: process.env["CINCH_LEDGER"] || undefined });
  const harness = new Harness({
    id: "cinch-cli",
    storage: store,
    agent,
    resolveModel: () => model.load(),
    // The tools are harmless: dice, a counter, a pause.
    permissions: [{ category: "other", policy: "allow" }],
  });
  try {
    const session = await harness.createSession();
    if (process.env["CRASH_AT"]) (await import("@cinch/testkit")).crashWhenEmitted(session);
    const view = options.json ? jsonView : new TextView(printer, { prompt, display: () => session.getDisplayState() });
    const watch = new TurnWatch(session, store);
    const interrupt = new TurnInterrupt(session, printer);
    const listener = (event: HarnessEvent) => {
      view.show(event);
      interrupt.handle(event);
      watch.handle(event);
    };
    const entered = await enterThread({ session, store, options, title: prompt ?? "", listener });
    shutdown.onInterrupt(() => interrupt.start());
    if (entered.driven && entered.before.status === "running")
      printer.note("another process drives this thread: following");
    const immediate = await begin({ session, watch, entered, prompt });
    const closed = shutdown.closed.then((code) => ({ kind: "closed" as const, code }));
    const end = immediate ?? (await Promise.race([watch.end, closed]));
    printer.endLine();
    const code = reportRunEnd(end, { printer, session, options, entered });
    // This process may now drive the turn of another session's message. Aborting it would lose the outcome of its calls.
    shutdown.onInterrupt(() => shutdown.close(ExitCode.aborted));
    if (end.kind === "ended") await Promise.race([idle(session), shutdown.closed]);
    return code;
  } finally {
    await harness.close();
  }
}

/** Settles when no turn is running. */
async function idle(session: Session): Promise<void> {
  const isBusy = () => session.getDisplayState().status === "running";
  if (!isBusy()) return;
  for await (const event of session.events()) if (event.type === "agent_end" || !isBusy()) return;
}

interface BeginOptions {
  session: Session;
  watch: TurnWatch;
  entered: EnteredThread;
  prompt: string | null;
}

/** Sends the prompt or resumes the thread. Returns an end if there is nothing to wait for. */
async function begin({ session, watch, entered, prompt }: BeginOptions): Promise<RunEnd | undefined> {
  const { status, inbox } = entered.before;
  if (prompt === null) {
    if (status === "waiting") return { kind: "waiting" };
    if (status === "idle" && inbox.length === 0) return { kind: "nothing" };
    watch.untilIdle();
    await session.resume();
    return undefined;
  }
  if (status !== "waiting" && status !== "parked") {
    watch.until(session.sendMessage({ content: prompt }));
    return undefined;
  }
  await session.post({ content: prompt, delivery: "send" });
  return { kind: status };
}
