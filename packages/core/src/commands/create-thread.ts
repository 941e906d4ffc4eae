import type { Modes } from "../config/modes.ts";
import type { StateShape } from "../config/state-shape.ts";
import { stamp, type NewEvent } from "../events/event-map.ts";
import { newControl, pathRulesField, yoloUpdate, type Control } from "../folds/control.ts";
import { trieRecord } from "../folds/trie.ts";
import type { Json } from "../events/message.ts";
import { plainRule } from "../permissions/rule.ts";
import type { Ids } from "../ports/ids.ts";
import type { ReachableThreads } from "../thread/reachable-threads.ts";
import type { Thread } from "../thread/thread.ts";
import { controlInForce } from "./control-in-force.ts";
import { signedBy } from "../thread/signed-thread.ts";

interface CreatePorts {
  threads: ReachableThreads;
  modes: Modes;
  shape: StateShape;
  ids: Ids;
  now(): number;
}

export interface CreateOptions {
  /** If the resource has a thread with this id, that thread is entered, and none is created. Default: a new id. */
  id?: string;
  title?: string;
  /** Free for the caller: a JSON object of at most 16,000 characters. Lists return it. */
  metadata?: Record<string, unknown>;
}

interface NewThread extends Omit<CreateOptions, "metadata"> {
  metadata?: Record<string, Json>;
  resourceId: string;
  by: string | undefined;
  /** The current thread of the session: the new one begins with its settings. */
  current: Thread | null;
  /** For display. */
  modeId: string;
  modelId: string;
}

/** Returns the id of the thread. */
export async function createThread(ports: CreatePorts, options: NewThread): Promise<string> {
  const { threads, modes, shape, ids, now } = ports;
  const { id = ids("thread"), title = "", by, current, ...fields } = options;
  const control = current ? await controlInForce(current) : newControl;
  const { resourceId } = fields;
  const yolo = shape.yolo ? { yolo: true } : {};
  const shown = { ...fields, title, ...yolo };
  const created: NewEvent = { type: "thread_created", ...shown, ...pathRulesField(control.policies.pathRules) };
  const events = [created, ...inherited(control, modes)].map((event) => stamp(signedBy(by, event), now()));
  await threads.create({ threadId: id, resourceId, events, afterSeq: 0 });
  return id;
}

/** A new thread begins with the mode, models, rules and state of the current one, but without its grants and usage. */
function inherited({ modeId, models, model, policies, values }: Control, modes: Modes): NewEvent[] {
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
