import { inPackage } from "./mutant.ts";

/** The lists of catalogs, runs that end without their caller, and the rules that leave a tree. */
export const delegation = inPackage("packages/core", [
  {
    attacks: "catalog: a driver that continues a turn lists it again",
    file: "turn/driver.ts",
    find: "last !== null && (isFork || !this.#hasBegunTurn)",
    replace: "last !== null && isFork",
    tests: ["subagents/catalog-failures"],
  },
  {
    attacks: "catalog: after a restart, the last list of a thread is forgotten",
    file: "turn/driver.ts",
    find: "?? last ?? withoutCatalog",
    replace: "?? withoutCatalog",
    tests: ["subagents/catalog-failures"],
  },
  {
    attacks: "budget: that of a fork does not bind its subagents",
    file: "turn/setup.ts",
    find: "budget, config.subagent?.fork?.agent.budget]",
    replace: "budget]",
    tests: ["subagents/limits"],
  },
  {
    attacks: "rewind: a run whose start is reverted is forgotten",
    file: "folds/runs.ts",
    find: "withReverted(withoutUnfinished(runs, isInherited(event.threadId)), event)",
    replace: "withoutUnfinished(runs, isInherited(event.threadId))",
    tests: ["subagents/rewind-deaths"],
  },
  {
    attacks: "rewind: a clone cancels the runs of its source",
    file: "folds/runs.ts",
    find: "withReverted(withoutUnfinished(runs, isInherited(event.threadId)), event)",
    replace: "withReverted(runs, event)",
    tests: ["subagents/rewind-deaths"],
  },
  {
    attacks: "rewind: the thread of a cancelled run is driven on when it is opened",
    file: "thread/supervisor.ts",
    find: "if (worksOnCancelledRun(this.#thread.state, states))",
    replace: "if (false)",
    tests: ["subagents/rewind-deaths"],
  },
  {
    attacks: "cancel: a cancelled run that is queued is started",
    file: "thread/child-run.ts",
    find: "if (this.#isCancelled && !(await hasStarted(store, this.#run)))",
    replace: "if (false)",
    tests: ["subagents/rewind-deaths"],
  },
  {
    attacks: "agent_cancel: what has not stopped is said to have stopped",
    file: "tools/control/agents.ts",
    find: "after.get(agentId)?.status === null",
    replace: "false",
    tests: ["subagents/cancel"],
  },
  {
    attacks: "close: a retry runs after it",
    file: "thread/thread.ts",
    find: "sleep(this.ports.clock, ms, this.#closing.signal)",
    replace: "sleep(this.ports.clock, ms)",
    tests: ["subagents/close"],
  },
  {
    attacks: "clone: it is allowed what the subagent had to ask for",
    file: "commands/control-in-force.ts",
    find: "[...others, ...overruled, ...asks, ...denies]",
    replace: "[...others, ...asks, ...denies]",
    tests: ["subagents/clones"],
  },
  {
    attacks: "clone: it has the YOLO of the subagent's thread",
    file: "commands/control-in-force.ts",
    find: "yolo: top.yolo ?? ports.shape.yolo",
    replace: "yolo: threads.at(-1)!.yolo",
    tests: ["subagents/clones"],
  },
  {
    attacks: "P8: a subscription does not begin with what is pending in subagents",
    file: "thread/subscriber.ts",
    find: "if (since === undefined && children.length === 0) return;",
    replace: "if (since === undefined) return;",
    tests: ["subagents/subscribing"],
  },
]);
