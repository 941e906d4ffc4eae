import type { DurableEvent, Task } from "../events/event-map.ts";
import type { AllowedTool } from "../events/context-events.ts";
import type { Json } from "../events/message.ts";
import type { PathRule, PathRuleLists } from "../permissions/path-rule.ts";
import { withoutTarget, type HeldRule } from "../permissions/rule.ts";
import { emptyTrie, trieSet, type Trie } from "./trie.ts";

/** The thread's own rules for what may run. The same object until one of them changes. */
export interface Policies {
  rules: readonly HeldRule[];
  grants: readonly HeldRule[];
  /** `null`: not set on this thread; the harness's `initialState` applies. */
  yolo: boolean | null;
  /** Of the subagent whose thread a person copied or continued from. They can only make a call stricter. */
  pathRules: PathRuleLists;
  /** The skills that were loaded in the current turn and restrict its calls. */
  skills: readonly ActiveSkill[];
}

/** Of two skills with the same name, the newer one counts. */
export interface ActiveSkill {
  name: string;
  allowed: readonly AllowedTool[];
  seq: number;
}

/** The settings of a thread. */
export interface Control {
  /** `null`: the harness's default. */
  modeId: string | null;
  /** By mode, the model that was chosen for this mode only. */
  models: { readonly [modeId: string]: string };
  /** The model that was chosen for all modes. */
  model: string | null;
  policies: Policies;
  /** The values of `setState`. */
  values: Trie<Json>;
  /** The highest number that was ever the id of a task. */
  lastTaskNo: number;
  /** How many answers the model has given since the task list was last written, or the model was last reminded of it. */
  sinceTasks: number;
  /** The text of the newest note about the mode. */
  modeNote: string | null;
}

/** After this many answers without a change of the task list, the model is reminded of open tasks. */
export const REMIND_AFTER = 10;

export const newControl: Control = {
  modeId: null,
  models: {},
  model: null,
  policies: { rules: [], grants: [], yolo: null, pathRules: [], skills: [] },
  values: emptyTrie,
  lastTaskNo: 0,
  sinceTasks: 0,
  modeNote: null,
};

export function reduceControl(control: Control, event: DurableEvent): Control {
  switch (event.type) {
    case "thread_created":
      return event.pathRules ? withPathRules(control, event) : control;
    case "thread_cloned": {
      // The source may have got rules after `parent.seq`. They count as older than every rule that is set on the clone.
      const rules = event.rules.map((rule) => ({ ...rule, seq: Math.min(rule.seq, event.seq) }));
      const { policies } = withoutSkills(control);
      return withPathRules(withState({ ...control, policies: { ...policies, rules, grants: [] } }, event.state), event);
    }
    case "thread_rewound": {
      const { rules, grants, state = {} } = event;
      const { policies } = withoutSkills(control);
      return withPathRules(withState({ ...control, policies: { ...policies, rules, grants } }, state), event);
    }
    case "mode_changed":
      return { ...control, modeId: event.modeId };
    case "model_changed": {
      const { modelId, modeId, scope } = event;
      if (scope === "thread") return { ...control, model: modelId, models: {} };
      return { ...control, models: { ...control.models, [modeId]: modelId } };
    }
    case "state_changed":
      return withState(control, event.updates);
    case "permission_changed": {
      const { rules, grants } = control.policies;
      const { rule, seq } = event;
      const next = [...withoutTarget(rules, rule), { ...rule, seq }];
      return { ...control, policies: { ...control.policies, rules: next, grants: withoutTarget(grants, rule) } };
    }
    case "grant_added": {
      const { rule, seq, interrupt } = event;
      const grant = { ...rule, seq, ...(interrupt ? { interrupt } : {}) };
      const grants = [...withoutTarget(control.policies.grants, rule), grant];
      return { ...control, policies: { ...control.policies, grants } };
    }
    case "skill_loaded":
      return withSkill(control, event);
    case "agent_end":
      return withoutSkills(control);
    case "task_updated":
      return { ...control, lastTaskNo: highest(control.lastTaskNo, event.tasks), sinceTasks: 0 };
    case "message_end":
      return withMessage(control, event);
    // The notes may be among what left the prompt: they are repeated at the next step.
    case "om_activation":
    case "context_summarised":
      return event.range ? { ...control, modeNote: null, sinceTasks: REMIND_AFTER } : control;
    default:
      return control;
  }
}

/** A skill restricts the turn in which it was loaded. */
function withoutSkills(control: Control): Control {
  const { policies } = control;
  return policies.skills.length === 0 ? control : { ...control, policies: { ...policies, skills: [] } };
}

function withSkill(control: Control, { name, allowed, seq }: DurableEvent<"skill_loaded">): Control {
  const { policies } = control;
  const others = policies.skills.filter((skill) => skill.name !== name);
  if (!allowed && others.length === policies.skills.length) return control;
  const skills = allowed ? [...others, { name, allowed, seq }] : others;
  return { ...control, policies: { ...policies, skills } };
}

const highest = (before: number, tasks: readonly Task[]): number =>
  Math.max(before, ...tasks.map(({ id }) => (/^\d{1,9}$/.test(id) ? Number(id) : 0)));

function withMessage(control: Control, { message, about, interrupted }: DurableEvent<"message_end">): Control {
  if (message.role === "assistant" && !interrupted) return { ...control, sinceTasks: control.sinceTasks + 1 };
  if (about === "tasks") return { ...control, sinceTasks: 0 };
  if (about !== "mode") return control;
  const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return { ...control, modeNote: text };
}

const withPathRules = (control: Control, { pathRules = [] }: { pathRules?: PathRuleLists | undefined }): Control => ({
  ...control,
  policies: { ...control.policies, pathRules },
});

function withState(control: Control, updates: { [key: string]: Json }): Control {
  const { yolo, ...values } = updates;
  const policies = typeof yolo === "boolean" ? { ...control.policies, yolo } : control.policies;
  const set = (all: Trie<Json>, [key, value]: [string, Json]) => trieSet(all, key, value);
  return { ...control, policies, values: Object.entries(values).reduce(set, control.values) };
}

/** The path rules of a thread as a field of the event with which its copy begins. */
export const pathRulesField = (lists: PathRuleLists): { pathRules?: PathRule[][] } =>
  lists.length === 0 ? {} : { pathRules: lists.map((list) => [...list]) };

/** YOLO as an update of the state, if it was set on this thread. */
export const yoloUpdate = ({ yolo }: Policies): { [key: string]: Json } => (yolo === null ? {} : { yolo });
