import {
  Agent,
  defineTool,
  Harness,
  memoryStore,
  type HarnessConfig,
  type HarnessEvent,
  type Rule,
  type ToolSet,
} from "@cinch/core";
import type { ScriptedModel } from "@cinch/testkit";
import * as z from "zod";

/** For tests that are about something else: tools run without asking. */
export const permissions: Rule[] = [{ category: "other", policy: "allow" }];

/** A harness with one agent on a store in memory, closed at the end of the test. Its tools run without asking. */
export async function harness(
  options: Partial<HarnessConfig> & { model: ScriptedModel; tools?: ToolSet; maxSteps?: number },
): Promise<Harness & AsyncDisposable & { seen: HarnessEvent[] }> {
  const { model, tools = {}, maxSteps, ...config } = options;
  const agent = new Agent({ name: "tester", model, instructions: "Test.", tools, ...(maxSteps ? { maxSteps } : {}) });
  const given: HarnessConfig = { id: "test", agent, storage: memoryStore(), permissions, ...config };
  const made = new Harness(underTest.config(given));
  await made.init();
  const face = await underTest.face(made);
  const seen: HarnessEvent[] = [];
  face.subscribe((event) => seen.push(event));
  return Object.assign(face, { seen, [Symbol.asyncDispose]: () => face.close() });
}

/**
 * What the tests of this process work with: the harness itself, or a client of a server in front of it. `packages/client/test/session`
 * runs these files a second time, over HTTP.
 */
export const underTest = {
  isRemote: false,
  /** `workers/as-worker` adds a placement. */
  config: (config: HarnessConfig): HarnessConfig => config,
  face: async (made: Harness): Promise<Harness> => made,
};

/** Options of a test that waits for an event of a turn which continues when its thread is opened. */
export const missed = () => onlyHere("the turn may have ended before a client has entered the thread");

/** Options of a test that can't run over HTTP, and why. */
export const onlyHere = (reason: string): { skip: string | false } => ({ skip: underTest.isRemote && reason });

/** Settles when an event of this type has been seen, from now on. */
export function next<T extends HarnessEvent["type"]>(
  from: { subscribe: Harness["subscribe"] },
  type: T,
): Promise<Extract<HarnessEvent, { type: T }>> {
  return new Promise((resolve) => {
    const off = from.subscribe((event) => {
      if (event.type !== type) return;
      off();
      resolve(event as Extract<HarnessEvent, { type: T }>);
    });
  });
}

/** A tool that notes each run, and what it was given. */
export function noting(runs: unknown[] = []) {
  const note = defineTool({
    description: "Notes something",
    input: z.object({ what: z.string() }),
    execute: ({ what }, { key }) => {
      runs.push({ what, key });
      return `noted ${what}`;
    },
  });
  return { note, runs };
}

/** A tool that asks a person, and a tool that ends when the test opens its gate. */
export const asking = defineTool({
  description: "Asks",
  effect: "pure",
  input: z.object({ question: z.string() }),
  execute: ({ question }, { suspend, resumed }) =>
    resumed ? `answer: ${String(resumed.data)}` : suspend({ question }),
});

export function gated(effect: "pure" | "idempotent" | "once" = "once") {
  const opened = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const runs: string[] = [];
  const gate = defineTool({
    description: "Waits until the gate is opened",
    effect,
    input: z.object({}),
    execute: async (_, { key }) => {
      runs.push(key);
      started.resolve();
      await opened.promise;
      return "through";
    },
  });
  return { gate, runs, started: started.promise, open: () => opened.resolve() };
}

export const texts = (events: readonly HarnessEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === "message_end"
      ? [
          `${event.message.role}: ${event.message.content.map((part) => ("text" in part ? part.text : part.type)).join("|")}`,
        ]
      : [],
  );
