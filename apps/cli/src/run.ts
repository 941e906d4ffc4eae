import { Harness, type HarnessEvent, type Session } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { cliAgent } from "./agent.ts";
import type { RunOptions } from "./args.ts";
import { finish, type RunEnd } from "./ending.ts";
import { Exit } from "./exit.ts";
import { Interrupt } from "./interrupt.ts";
import { chooseModel } from "./models/choice.ts";
import { promptOf } from "./prompt.ts";
import { checkDatabase, takeSeat, type Seat } from "./seat.ts";
import { Stops } from "./stops.ts";
import { jsonView } from "./terminal/json-view.ts";
import { Screen } from "./terminal/screen.ts";
import { TextView } from "./terminal/text-view.ts";
import { TurnWatch } from "./turn-end.ts";

/** `cinch run`: says something to a thread, shows what happens, and ends with a code that tells how it went. */
export async function run(options: RunOptions): Promise<number> {
  using stops = new Stops();
  const screen = new Screen();
  const model = chooseModel(options.model, process.env);
  checkDatabase(options);
  const prompt = await promptOf(options, (line) => screen.note(line));
  if (model.fallback && !options.json) {
    screen.note("model: offline (rule-based, built in; set a provider's key or give --model for a real one)");
  }
  const store = sqliteStore({ path: options.db });
  const agent = cliAgent({ model: model.id, ledger: process.env["CINCH_LEDGER"] || undefined });
  const harness = new Harness({
    id: "cinch-cli",
    storage: store,
    agent,
    resolveModel: () => model.load(),
    // Dice, a counter and a pause: nothing that anybody need be asked for.
    permissions: [{ category: "other", policy: "allow" }],
  });
  try {
    const session = await harness.createSession();
    if (process.env["CRASH_AT"]) (await import("@cinch/testkit")).crashWhenEmitted(session);
    const view = options.json ? jsonView : new TextView(screen, { prompt, display: () => session.getDisplayState() });
    const watch = new TurnWatch(session, store);
    const interrupt = new Interrupt(session, screen);
    const listener = (event: HarnessEvent) => {
      view.show(event);
      interrupt.see(event);
      watch.see(event);
    };
    const seat = await takeSeat({ session, store, options, title: prompt ?? "", listener });
    stops.onInterrupt(() => interrupt.begin());
    if (seat.driven && seat.before.status === "running") screen.note("another process drives this thread: following");
    const early = await begin({ session, watch, seat, prompt });
    const closed = stops.closed.then((code) => ({ kind: "closed" as const, code }));
    const end = early ?? (await Promise.race([watch.end, closed]));
    screen.endLine();
    const code = finish(end, { screen, session, options, seat });
    // Somebody else's message may be in its turn here by now: to cut that off would cost them the outcome of its calls.
    stops.onInterrupt(() => stops.close(Exit.aborted));
    if (end.kind === "ended") await Promise.race([idle(session), stops.closed]);
    return code;
  } finally {
    await harness.close();
  }
}

/** Settles when the thread has nothing more to do. */
async function idle(session: Session): Promise<void> {
  const isBusy = () => session.getDisplayState().status === "running";
  if (!isBusy()) return;
  for await (const event of session.events()) if (event.type === "agent_end" || !isBusy()) return;
}

interface Beginning {
  session: Session;
  watch: TurnWatch;
  seat: Seat;
  prompt: string | null;
}

/** Sets going what was asked for. Comes back with the end if there is nothing to wait for. */
async function begin({ session, watch, seat, prompt }: Beginning): Promise<RunEnd | undefined> {
  const { status, inbox } = seat.before;
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
