import { checked } from "../config/check.ts";
import type { NewEvent } from "../events/event-map.ts";
import { trieRecord } from "../folds/trie.ts";
import { policyCommand } from "./policy-command.ts";
import { Rule, type ToolCategory } from "../permissions/rule.ts";
import { withTimeout } from "../ports/clock.ts";
import type { StateShape } from "../config/state-shape.ts";
import type { SignedThread } from "../thread/signed-thread.ts";

/** The commands that set mode, model, rules and state of a thread. Each is durable when it settles. */

export async function switchMode(signed: SignedThread, { modeId }: { modeId: string }): Promise<void> {
  const { modes } = signed.thread.ports;
  const mode = modes.of(modeId);
  await signed.command(({ control }) => {
    if (control.modeId === modeId) return null;
    const previousModeId = control.modeId ?? modes.default.id;
    return { events: [{ type: "mode_changed", modeId, previousModeId, modelId: modes.modelId(control, mode) }] };
  });
}

/** The title that the thread already has is no change: the command may have been sent twice. */
export const rename = (signed: SignedThread, { title }: { title: string }): Promise<void> =>
  signed.command<void>((state) => (state.title === title ? null : { events: [{ type: "thread_renamed", title }] }));

export interface ModelSwitch {
  modelId: string;
  /** `mode` (default): only for the current mode of the thread. `thread`: for all its modes. */
  scope?: "mode" | "thread";
}

export async function switchModel(signed: SignedThread, { modelId, scope = "mode" }: ModelSwitch): Promise<void> {
  const { clock, modes } = signed.thread.ports;
  // After the timeout the model is accepted unchecked: if it can't be used, the next turn fails and says why.
  await withTimeout(clock, modes.checkModel(modelId));
  await signed.command(({ control }) => {
    const modeId = control.modeId ?? modes.default.id;
    return { events: [{ type: "model_changed", modelId, scope, modeId }] };
  });
}

export function setRule(signed: SignedThread, rule: Rule): Promise<void> {
  return policyCommand(signed, async () => [{ type: "permission_changed", rule: checkedRule(rule) }]);
}

type Target = { toolName: string; match?: string } | { category: ToolCategory };

export function addGrant(signed: SignedThread, target: Target): Promise<void> {
  const rule = (): Rule => checkedRule({ ...target, policy: "allow" });
  return policyCommand(signed, async () => [{ type: "grant_added", rule: rule(), from: "session" }]);
}

const checkedRule = (rule: Rule): Rule => checked(Rule, rule, "INVALID_INPUT", "Invalid rule");

export function setState(signed: SignedThread, shape: StateShape, updates: unknown): Promise<void> {
  return policyCommand(signed, async ({ control }): Promise<NewEvent[]> => {
    const valid = shape.checked(trieRecord(control.values), updates);
    return Object.keys(valid).length > 0 ? [{ type: "state_changed", updates: valid }] : [];
  });
}
