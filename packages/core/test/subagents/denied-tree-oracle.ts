import assert from "node:assert/strict";
import type { DurableEvent, Policy } from "@cinch/core";
import { levelOf, modeId, type Name, type Policies, type TreeSpec } from "./denied-tree-plan.ts";

/** A tool that ran, when the log had this many events. */
export interface TreeRun {
  threadId: string;
  name: Name;
  key: string;
  at: number;
}

/** What the journals of the whole tree say, in the order in which they were written. */
export type Log = readonly DurableEvent[];

/** What API.md says about a call of a tree, written down a second time. */
export function auditTree(tree: TreeSpec, log: Log, runs: readonly TreeRun[]): void {
  for (const run of runs) {
    const from = log.findLastIndex((event, at) => at < run.at && event.type === "tool_start" && event.key === run.key);
    assert.ok(from >= 0, `${run.name} ran before the journal had it`);
    const start = log[from] as DurableEvent<"tool_start">;
    const before = log.slice(0, from);
    const why = whyForbidden(tree, before, start);
    assert.equal(why, null, `${run.name} of ${run.threadId} ran, although ${why}`);
  }
  const once = runs.filter(({ name }) => tree.effects[name] === "once").map(({ key }) => key);
  assert.equal(new Set(once).size, once.length, "a tool with an effect ran twice");
}

function whyForbidden(tree: TreeSpec, log: Log, { threadId, toolCallId, toolName, turnId }: Start): string | null {
  const name = toolName as Name;
  const chain = chainOf(log, threadId);
  const [top, ...below] = chain;
  const { path } = agentOf(log, threadId) ?? { path: [] };
  const mode = modeOf(log, threadId);
  if (tree.excluded.some((excluded, at) => mode === modeId(at as 0 | 1) && excluded.includes(name)))
    return `mode ${mode} excludes it`;
  const available = tree.levels[levelOf(path)]?.available;
  if (available && !available.includes(name)) return "its agent excludes it";
  const levels = below.map((id, at) => [tree.levels[at]!.permissions, heldIn(log, id)] as const);
  const all: (Policy | undefined)[] = [tree.config[name], ...deniedIn(log, top!, name)];
  for (const [at, id] of below.entries()) all.push(tree.levels[at]!.permissions[name], ...deniedIn(log, id, name));
  if (all.includes("deny")) return "a rule denies it";
  if (yoloIn(log, top!) ?? tree.yolo) return null;
  const ofTop = heldIn(log, top!)[name] ?? tree.config[name] ?? "ask";
  const asks = ofTop === "ask" || levels.some(([config, held]) => (held[name] ?? config[name]) === "ask");
  const isApproved = log.some(
    (event) =>
      event.type === "tool_approval_resolved" &&
      event.threadId === threadId &&
      event.toolCallId === toolCallId &&
      event.turnId === turnId &&
      event.decision !== "decline",
  );
  return asks && !isApproved ? "it was not approved" : null;
}

type Start = DurableEvent<"tool_start">;

function agentOf(log: Log, threadId: string) {
  const first = log.find((event) => event.threadId === threadId);
  return first?.type === "thread_created" || first?.type === "thread_cloned" ? first.agent : undefined;
}

/** The threads from the top-level one to this one. */
function chainOf(log: Log, threadId: string): string[] {
  const agent = agentOf(log, threadId);
  return agent ? [...chainOf(log, agent.owner), threadId] : [threadId];
}

/** The mode of the step that delegated, or of the step of the top-level thread. */
function modeOf(log: Log, threadId: string): string | undefined {
  const agent = agentOf(log, threadId);
  if (agent) return agent.modeId;
  const start = log.findLast((event) => event.threadId === threadId && event.type === "agent_start");
  return start?.type === "agent_start" ? start.modeId : undefined;
}

/** The newest rule or grant of a thread for each tool. */
function heldIn(log: Log, threadId: string): Policies {
  const held: Policies = {};
  for (const event of log)
    if (event.threadId === threadId && (event.type === "permission_changed" || event.type === "grant_added"))
      held[event.rule.toolName as Name] = event.rule.policy;
  return held;
}

/** A grant does not lift a rule that denies. */
function deniedIn(log: Log, threadId: string, name: Name): Policy[] {
  const rule = log.findLast(
    (event) => event.threadId === threadId && event.type === "permission_changed" && event.rule.toolName === name,
  );
  return rule?.type === "permission_changed" ? [rule.rule.policy] : [];
}

const yoloIn = (log: Log, threadId: string): boolean | undefined =>
  log
    .flatMap((event) => (event.type === "state_changed" && event.threadId === threadId ? [event.updates["yolo"]] : []))
    .findLast((on): on is boolean => typeof on === "boolean");

/** Each run and each call has ended once, and each background run is reported at most once. */
export function auditEnds(log: Log): void {
  const ids = (type: "subagent_start" | "subagent_end") =>
    log.flatMap((event) => (event.type === type ? [`${event.threadId} ${event.runId}`] : []));
  assert.deepEqual(ids("subagent_end").toSorted(), ids("subagent_start").toSorted());
  const notes = log.flatMap((event) => (event.type === "input_accepted" && event.note ? [event.inputId] : []));
  assert.equal(new Set(notes).size, notes.length, "a note was written twice");
}
