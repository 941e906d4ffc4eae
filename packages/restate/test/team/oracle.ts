import { existsSync, readFileSync } from "node:fs";
import { emptyTranscript, reduceTranscript, toPrompt } from "@cinch/core/journal";
import type { DurableEvent, Store } from "@cinch/core";
import { validateAnthropic, validateGemini, validateOpenAIChat, validateOpenAIResponses } from "@cinch/testkit";
import type { EffectLine } from "./member-harness.ts";

const VALIDATORS = [validateAnthropic, validateGemini, validateOpenAIChat, validateOpenAIResponses];
const ONCE = ["once", "guarded"];

const linesOf = <T>(file: string): T[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as T)
    : [];

export interface TeamVerdict {
  problems: string[];
  turns: number;
  takeovers: number;
  effects: number;
}

/** Compares the journals with what the fronts were answered and with what the tools did. The team has ended. */
export async function judge(folder: string, store: Store): Promise<TeamVerdict> {
  const effects = Map.groupBy(linesOf<EffectLine>(`${folder}/effects`), ({ key }) => key);
  const accepted = Map.groupBy(
    linesOf<{ threadId: string; id: string }>(`${folder}/accepted`),
    ({ threadId }) => threadId,
  );
  const problems: string[] = [];
  const keys = new Set<string>();
  let turns = 0;
  let takeovers = 0;
  for (const { id } of await store.threads()) {
    const events = await store.read(id);
    const found = [
      ...gaps(events),
      ...wrongInputs(
        events,
        (accepted.get(id) ?? []).map((one) => one.id),
      ),
      ...wrongCalls(events, effects),
      ...(await wrongEnd(store, { id, events })),
    ];
    problems.push(...found.map((problem) => `${id}: ${problem}`));
    for (const event of events) if (event.type === "tool_start") keys.add(event.key);
    turns += events.filter(({ type }) => type === "agent_end").length;
    takeovers += events.filter((event) => event.type === "agent_start" && event.takeover).length;
  }
  for (const key of effects.keys()) if (!keys.has(key)) problems.push(`an effect that no journal has: ${key}`);
  return { problems, turns, takeovers, effects: effects.size };
}

const gaps = (events: readonly DurableEvent[]): string[] =>
  events.flatMap(({ seq }, at) => (seq === at + 1 ? [] : [`event ${at + 1} has the number ${seq}`]));

/** Each accepted message is there once, was taken once, and was answered. */
function wrongInputs(events: readonly DurableEvent[], accepted: readonly string[]): string[] {
  const ids = (type: "input_accepted" | "input_taken") =>
    events.flatMap((event) => (event.type === type ? [event.inputId] : []));
  const [there, taken] = [ids("input_accepted"), ids("input_taken")];
  const times = (list: readonly string[], id: string) => list.filter((one) => one === id).length;
  return [
    ...accepted.flatMap((id) => (times(there, id) === 1 ? [] : [`accepted ${times(there, id)} times: ${id}`])),
    ...there.flatMap((id) => (times(taken, id) === 1 ? [] : [`taken ${times(taken, id)} times: ${id}`])),
  ];
}

/** A call ends once. One with an effect is started and runs at most once. None runs before its first start, or after its end. */
function wrongCalls(events: readonly DurableEvent[], effects: ReadonlyMap<string, readonly EffectLine[]>): string[] {
  return events.flatMap((start, at) => {
    if (start.type !== "tool_start") return [];
    const { key, toolName, toolCallId, turnId } = start;
    const starts = events.filter((event) => event.type === "tool_start" && event.key === key);
    if (starts[0] !== start) return [];
    const ends = events.slice(at).filter((event) => isEnd(event, { toolCallId, turnId }));
    const runs = effects.get(key) ?? [];
    const end = ends[0];
    return [
      ...(ends.length === 1 ? [] : [`${toolName} ${key} ended ${ends.length} times`]),
      ...(ONCE.includes(toolName) && starts.length > 1
        ? [`${toolName} ${key} was started ${starts.length} times`]
        : []),
      ...(ONCE.includes(toolName) && runs.length > 1 ? [`${toolName} ${key} ran ${runs.length} times`] : []),
      ...runs.flatMap((run) => (run.at < start.at ? [`${toolName} ${key} ran before it was recorded`] : [])),
      ...runs.flatMap((run) =>
        end && run.at > end.at ? [`${toolName} ${key} ran ${run.at - end.at} ms after its end, in ${run.pid}`] : [],
      ),
    ];
  });
}

const isEnd = (event: DurableEvent, { toolCallId, turnId }: { toolCallId: string; turnId?: string }): boolean =>
  event.type === "tool_end" && event.toolCallId === toolCallId && event.turnId === turnId;

async function wrongEnd(store: Store, { id, events }: { id: string; events: DurableEvent[] }): Promise<string[]> {
  const transcript = events.reduce(reduceTranscript, emptyTranscript);
  const prompt = await toPrompt({ system: "", tools: [] }, transcript, (hash) => store.blob(hash));
  const { status } = await store.lease(id);
  const rests = events.findLast(({ type }) => type === "agent_start" || type === "agent_end")?.type !== "agent_start";
  return [
    ...VALIDATORS.flatMap((validate) => validate(prompt)),
    ...(status === "free" ? [] : [`its lease is ${status}`]),
    ...(rests ? [] : ["its turn has not ended"]),
  ];
}
