import { memoryStore, type DurableEvent, type LanguageModel } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import { Schedule, ScheduledProcess } from "../scheduled.ts";
import type { Ran } from "./denied-oracle.ts";
import { configOf, type Run, type Setting } from "./denied-setting.ts";

export type ModelCall = [toolName: string, args: unknown];

/** The model's script and the schedule of a random world. */
export interface WorldPlan {
  /** The calls of each answer of the model. After the last one it answers with text, and starts again. */
  batches: ModelCall[][];
  /** Which of the waiting operations continues next. After the end of this list: the one that has waited longest. */
  order: number[];
}

/** Several processes on the same data, and what they did. */
export class World extends Schedule {
  readonly plan: WorldPlan;
  readonly ran: Ran[] = [];
  /** By thread and `seq`, the configuration of the process that wrote an event. */
  readonly writers = new Map<string, Setting>();
  /** By thread and `seq` of a clone or rewind, the events that are in force after it. */
  readonly cuts = new Map<string, readonly DurableEvent[]>();
  #answers = 0;

  constructor(plan: WorldPlan) {
    super(plan.order);
    this.plan = plan;
  }

  nextBatch(): ModelCall[] {
    const { batches } = this.plan;
    return batches[this.#answers++ % (batches.length + 1)] ?? [];
  }
}

/** A harness with one of the settings. */
export class Process extends ScheduledProcess {
  constructor(world: World, setting: Setting, onRecover: "resume" | "pause" = "resume") {
    const memory = memoryStore(world.data);
    super(
      world,
      (process) => ({
        ...configOf(setting, { model: modelOf(world, process), run: runIn(world, process) }),
        onRecover,
      }),
      async (threadId, events, last) => {
        for (const at of events.keys()) world.writers.set(`${threadId}:${last - at}`, setting);
        if (events[0]?.type === "thread_cloned" || events[0]?.type === "thread_rewound")
          world.cuts.set(`${threadId}:${last}`, await memory.read(threadId, { upTo: last - 1 }));
      },
    );
  }
}

const modelOf = (world: World, { pass }: ScheduledProcess): LanguageModel =>
  scriptedBy((options) => {
    const batch = world.nextBatch();
    const answer = batch.length === 0 ? say("done") : call(...batch.map(named));
    return async function* () {
      await pass("model");
      yield* answer(options);
    };
  });

const runIn =
  (world: World, process: ScheduledProcess): Run =>
  async (toolName, args, { threadId, toolCallId, key, suspend, resumed }) => {
    world.ran.push({ threadId, toolCallId, toolName, key, args, seq: world.lastSeq(threadId) });
    process.store.strike("running");
    await process.pass(toolName);
    if (args.does === "throw") throw new Error("it broke");
    if (args.does === "suspend" && !resumed) suspend({ what: "now?" });
    return "done";
  };

/** Ids are unique within a message only, so every message has the same ones. */
const named = ([toolName, args]: ModelCall, at: number): [string, unknown, string] => [toolName, args, `c${at}`];
