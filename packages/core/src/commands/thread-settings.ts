import { checked } from "../config/check.ts";
import { stamp, type NewEvent } from "../events/event-map.ts";
import { yoloUpdate, type Control } from "../folds/control.ts";
import { trieRecord } from "../folds/trie.ts";
import type { Modes } from "../config/modes.ts";
import { changePolicies } from "../permissions/change.ts";
import { plainRule, Rule, type ToolCategory } from "../permissions/rule.ts";
import { withTimeout } from "../ports/clock.ts";
import { checkSeq } from "./rewind.ts";
import type { StateShape } from "../config/state-shape.ts";
import type { Folds } from "../folds/folds.ts";
import type { Thread } from "../thread/thread.ts";

/** What people set on a thread: mode, model, rules, state. Each is a command, durable when it settles. */

export async function switchMode(thread: Thread, modeId: string): Promise<void> {
  const { modes } = thread.ports;
  const mode = modes.of(modeId);
  await thread.command(({ control }) => {
    if (control.modeId === modeId) return null;
    const previousModeId = control.modeId ?? modes.default.id;
    return { events: [{ type: "mode_changed", modeId, previousModeId, modelId: modes.modelId(control, mode) }] };
  });
}

export const rename = (thread: Thread, title: string): Promise<void> =>
  thread.command<void>(() => ({ events: [{ type: "thread_renamed", title }] }));

export interface ModelSwitch {
  modelId: string;
  /** `mode` (default): for the current mode of this thread. `thread`: for all its modes. */
  scope?: "mode" | "thread";
}

export async function switchModel(thread: Thread, { modelId, scope = "mode" }: ModelSwitch): Promise<void> {
  // A model that takes its time is taken on trust: the turn will tell.
  await withTimeout(thread.ports.clock, thread.ports.modes.checkModel(modelId));
  await thread.command(({ control }) => {
    const modeId = control.modeId ?? thread.ports.modes.default.id;
    return { events: [{ type: "model_changed", modelId, scope, modeId }] };
  });
}

export function setRule(thread: Thread, rule: Rule): Promise<void> {
  return changePolicies(thread, async () => [{ type: "permission_changed", rule: checkedRule(rule) }]);
}

type Target = { toolName: string; match?: string } | { category: ToolCategory };

export function addGrant(thread: Thread, target: Target): Promise<void> {
  const rule = (): Rule => checkedRule({ ...target, policy: "allow" });
  return changePolicies(thread, async () => [{ type: "grant_added", rule: rule(), from: "session" }]);
}

const checkedRule = (rule: Rule): Rule => checked(Rule, rule, "INVALID_INPUT", "This is not a rule");

export function setState(thread: Thread, shape: StateShape, updates: unknown): Promise<void> {
  return changePolicies(thread, async ({ control }): Promise<NewEvent[]> => {
    const valid = shape.checked(trieRecord(control.values), updates);
    return Object.keys(valid).length > 0 ? [{ type: "state_changed", updates: valid }] : [];
  });
}

/** What a new thread takes over from the one that its session sits at: mode, models, rules and state. Not grants, not usage. */
export function inherited({ modeId, models, model, policies, values }: Control, modes: Modes): NewEvent[] {
  const previousModeId = modes.default.id;
  const updates = { ...trieRecord(values), ...yoloUpdate(policies) };
  return [
    ...(modeId === null || !modes.has(modeId) ? [] : [{ type: "mode_changed" as const, modeId, previousModeId }]),
    ...(model === null
      ? []
      : [{ type: "model_changed" as const, modelId: model, scope: "thread" as const, modeId: "" }]),
    ...Object.entries(models).map(([id, modelId]) => {
      return { type: "model_changed" as const, modelId, scope: "mode" as const, modeId: id };
    }),
    ...policies.rules.map((rule) => ({ type: "permission_changed" as const, rule: plainRule(rule) })),
    ...(Object.keys(updates).length === 0 ? [] : [{ type: "state_changed" as const, updates }]),
  ];
}

export interface CloneOptions {
  /** Without it the current thread is cloned. */
  sourceThreadId?: string;
  /** The last event that the clone inherits. Without it, all. */
  atSeq?: number;
  title?: string;
}

/** Makes a clone, which begins as its source was at `atSeq`, under the rules of now. `folds`: what it inherits, if that is folded. */
export async function makeClone(
  source: Thread,
  { atSeq, title }: CloneOptions,
): Promise<{ id: string; folds: Folds | undefined }> {
  // Rules that another process has set by now hold in the clone.
  await source.refresh();
  const { state, display, ports } = source;
  const seq = atSeq ?? state.seq;
  checkSeq("atSeq", seq, state.seq);
  const id = ports.ids("thread");
  const { policies } = state.control;
  const now = { rules: [...policies.rules], state: yoloUpdate(policies) };
  const parent = { threadId: source.id, seq };
  const event: NewEvent = { type: "thread_cloned", title: title ?? state.title, parent, ...now };
  await ports.store.append(id, [stamp(event, ports.clock.now())], { afterSeq: seq });
  return { id, folds: seq === state.seq ? { state, display } : undefined };
}
