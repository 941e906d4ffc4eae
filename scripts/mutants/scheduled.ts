import { inPackage } from "./mutant.ts";

const promises = "commands/scheduled-inputs";
const deaths = "commands/scheduled-deaths";

/** Inputs with a time. */
export const scheduled = inPackage("packages/core", [
  {
    attacks: "scheduled: an input is taken before its time",
    file: "turn/decide.ts",
    find: "!item || isScheduled(item) ||",
    replace: "!item ||",
    tests: ["folds/scheduled"],
  },
  {
    attacks: "scheduled: an input that is not due keeps the thread running",
    file: "folds/inbox.ts",
    find: "=> queuedCount(inbox) > 0;",
    replace: "=> inbox.length > 0;",
    tests: [promises],
  },
  {
    attacks: "scheduled: inputs are taken in the order in which they were accepted",
    file: "folds/inbox.ts",
    find: "inbox.toSpliced(countUntil(inbox, timeOf(item)), 0, item)",
    replace: "inbox.toSpliced(inbox.length, 0, item)",
    tests: [promises, deaths],
  },
  {
    attacks: "scheduled: events don't queue what is due by then",
    file: "folds/inbox.ts",
    find: "const inbox = inboxAt(before, event.at);",
    replace: "const inbox = before;",
    tests: ["folds/scheduled"],
  },
  {
    attacks: "scheduled: an input that is due stays behind the hold of an abort",
    file: "folds/progress.ts",
    find: "{ ...state, inbox, held: false, turn: withInput(state.turn) }",
    replace: "{ ...state, inbox, turn: withInput(state.turn) }",
    tests: [promises],
  },
  {
    attacks: "scheduled: an input that becomes due while a turn is aborted is held back",
    file: "folds/progress.ts",
    find: "held && !turn?.hasInputAfterAbort && hasQueued(inbox)",
    replace: "held && hasQueued(inbox)",
    tests: ["folds/scheduled"],
  },
  {
    attacks: "scheduled: a scheduled input ends the hold of an abort at once",
    file: "folds/progress.ts",
    find: "isForLater(event) ? state :",
    replace: "false ? state :",
    tests: ["folds/scheduled"],
  },
  {
    attacks: "scheduled: no timer wakes the thread",
    file: "thread/supervisor.ts",
    find: "this.#ports.due.set(this, firstDueAt(this.#stateNow.inbox));",
    replace: "",
    tests: [promises],
  },
  {
    attacks: "scheduled: a clock that is set forward is not noticed",
    file: "thread/due-threads.ts",
    find: "const LOOK_MS = 1_000;",
    replace: "const LOOK_MS = 100_000_000;",
    tests: [promises],
  },
  {
    attacks: "scheduled: decisions don't see what is due now",
    file: "thread/append-queue.ts",
    find: "decide(progressAt(after, now)) ?? {}",
    replace: "decide(after) ?? {}",
    tests: [promises],
  },
  {
    attacks: "scheduled: an older release takes the input at once",
    file: "events/event-map.ts",
    find: '{ v: 2, fields: ["dueAt"] }',
    replace: "{ v: 2, fields: [] }",
    tests: [promises],
  },
  {
    attacks: "scheduled: while a turn waits for a person, workers are called to it for ever",
    file: "turn/decide.ts",
    find: "if (!state.turn) return firstDueAt(state.inbox);",
    replace: "if (firstDueAt(state.inbox) !== null) return firstDueAt(state.inbox);",
    tests: ["thread/waking"],
  },
  {
    attacks: "scheduled: a time in the far future is accepted",
    file: "commands/input.ts",
    find: "if (at - now <= MAX_AHEAD_MS) return;",
    replace: "return;",
    tests: [promises],
  },
  {
    attacks: "scheduled: settled does not wait for what is due and not taken yet",
    file: "queries/settled.ts",
    find: "return due !== state && needsDriving(due);",
    replace: "return false;",
    tests: [promises],
  },
]);

/** Two releases side by side. */
export const newerReleases = inPackage("packages/core", [
  {
    attacks: "newer release: a command is appended to a thread whose state is not known",
    file: "thread/signed-thread.ts",
    find: "refuseForeign(state.foreign);",
    replace: "",
    tests: ["thread/newer-release"],
  },
  {
    attacks: "newer release: a driver goes on past an event that it does not know",
    file: "turn/driver.ts",
    find: "const isForeign = this.state.foreign ?? this.ancestors.some(({ state }) => state.foreign);",
    replace: "const isForeign = false;",
    tests: ["thread/newer-release"],
  },
  {
    attacks: "newer release: what it said about the work that is left is overwritten",
    file: "thread/append-queue.ts",
    find: "const left = after.foreign ?",
    replace: "const left = after.foreign && false ?",
    tests: ["thread/newer-release"],
  },
  {
    attacks: "newer release: a clone gets rules that are not all known",
    file: "commands/clone.ts",
    find: "refuseForeign(state.foreign);",
    replace: "",
    tests: ["thread/newer-release"],
  },
  {
    attacks: "newer release: a turn is parked",
    file: "turn/turn.ts",
    find: "if (!turn || already || foreign) return null;",
    replace: "if (!turn || already) return null;",
    tests: ["thread/newer-release"],
  },
]);

/** `recover: "all"`. */
export const recovery = inPackage("packages/core", [
  {
    attacks: "recovery: a process that runs does not continue what another one leaves",
    file: "workers/recovery.ts",
    find: "if (!this.#isClosed) this.#driven.set(",
    replace: "if (false) this.#driven.set(",
    tests: ["workers/recovery"],
  },
  {
    attacks: "recovery: every process continues all threads",
    file: "harness.ts",
    find: 'if (recover === "all" && !placement)',
    replace: "if (!placement)",
    tests: ["workers/recovery"],
  },
  {
    attacks: "recovery: a thread that can't be driven here is opened all the time",
    file: "thread/thread-registry.ts",
    find: 'status === "held" ? "done" : "busy"',
    replace: 'status === "held" ? "done" : "done"',
    tests: ["workers/recovery"],
  },
]);

/** Tokens that are tried, and clocks that are set back. */
export const attempts = [
  ...inPackage("packages/server", [
    {
      attacks: "tokens: an address may try as many as it likes",
      file: "access/failed-tokens.ts",
      find: "if (this.#leftFor(address, now) >= 1) return;",
      replace: "return;",
      tests: ["access/failed-tokens"],
    },
    {
      attacks: "tokens: one who tries tokens locks out the others at the address",
      file: "access/failed-tokens.ts",
      find: " || this.#right.has(tokenHash(token))",
      replace: "",
      tests: ["access/failed-tokens"],
    },
  ]),
  ...inPackage("apps/cli", [
    {
      attacks: "panels: a clock that is set back keeps the keys from a panel",
      file: "app/steady-time.ts",
      find: "if (now + this.#added < this.#last) this.#added = this.#last - now;",
      replace: "",
      tests: ["app/asked-panels"],
    },
  ]),
];
