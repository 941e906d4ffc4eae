import {
  Agent,
  Harness,
  memoryStore,
  textOf,
  type HarnessConfig,
  type HarnessEvent,
  type Memory,
  type Store,
  type Workspace,
} from "@cinch/core";
import { say, scriptedBy, type Step } from "@cinch/testkit";

type Prompt = Parameters<Parameters<typeof scriptedBy>[0]>[0]["prompt"];

interface Started {
  seen: HarnessEvent[];
  /** The messages of the `info` events. */
  infos: string[];
  requests: Prompt[];
  /** What the model got from its calls, in order, and whether it was an error. */
  results(): string[];
  errors(): boolean[];
  storage: Store;
}

/** A harness whose model gives these answers in turn. `after`: it goes on where that one was. */
export async function started({
  steps,
  after,
  ...config
}: Partial<HarnessConfig> & { steps: Step[]; after?: Started & Harness }): Promise<
  Harness & Started & AsyncDisposable
> {
  const left = [...steps];
  const requests: Prompt[] = [];
  const model = scriptedBy(({ prompt }) => {
    requests.push(prompt);
    return left.shift() ?? say("nothing left");
  });
  const storage = after?.storage ?? memoryStore();
  const harness = new Harness({
    id: "test",
    agent: new Agent({ name: "tester", model, instructions: "Test." }),
    storage,
    ...config,
  });
  await after?.close();
  await harness.init();
  const seen: HarnessEvent[] = [];
  const infos: string[] = [];
  harness.subscribe((event) => {
    seen.push(event);
    if (event.type === "info") infos.push(event.message);
  });
  const ends = () => seen.flatMap((event) => (event.type === "tool_end" ? [event] : []));
  return Object.assign(harness, {
    seen,
    infos,
    requests,
    storage,
    results: () =>
      ends().map(({ result: { content } }) => (typeof content === "string" ? content : JSON.stringify(content))),
    errors: () => ends().map(({ isError }) => isError),
    [Symbol.asyncDispose]: () => harness.close(),
  });
}

export const systemOf = ([first]: Prompt): string => (first?.role === "system" ? first.content : "");

/** The notes about context sources. */
export const notesIn = (seen: readonly HarnessEvent[]): string[] =>
  seen.flatMap((event) =>
    event.type === "message_end" && event.about === "context" ? [textOf(event.message.content)] : [],
  );

/** Summarises everything when it is asked to. */
export const summarising: Memory = {
  plan: ({ isRequested, boundaries, fromSeq }) => {
    const range: [number, number] = [fromSeq, boundaries.at(-1)?.seq ?? 0];
    const cut = isRequested ? { kind: "summarise" as const, range, reason: "requested" as const } : null;
    return { cut, observe: null, reflect: null };
  },
  summarise: async () => "They talked.",
};

/** The workspace, and the paths that its reader is asked for. */
export function counting<W extends Workspace>(workspace: W): { workspace: W; reads: string[] } {
  const reads: string[] = [];
  const make = workspace.reader!.bind(workspace);
  workspace.reader = (reach) => {
    const reader = make(reach);
    const noted = <Args extends [string, ...unknown[]], T>(call: (...args: Args) => T) => {
      return (...args: Args): T => {
        reads.push(args[0]);
        return call(...args);
      };
    };
    return { list: noted(reader.list), version: noted(reader.version), read: noted(reader.read) };
  };
  return { workspace, reads };
}
