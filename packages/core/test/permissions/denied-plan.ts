import type { Decision, Delivery, Rule } from "@cinch/core";
import * as fc from "fast-check";
import {
  args,
  categoryOf,
  isOurs,
  NAMES,
  ruleSpec,
  settingSpec,
  type Args,
  type RuleSpec,
  type Setting,
  type SettingSpec,
} from "./denied-setting.ts";
import type { Deadline } from "../scheduled.ts";
import type { ModelCall, WorldPlan } from "./denied-world.ts";

/** A command, or a crash. */
export type Deed<R = Rule> =
  | { do: "say"; delivery: Delivery }
  | { do: "rule" | "grant"; rule: R }
  | { do: "yolo"; on: boolean }
  | { do: "mode"; mode: number }
  /** Answers a waiting call. `late`: one that was shown before, and may have been answered or reverted since. */
  | { do: "answer"; which: number; decision: Decision; args: Args; message: boolean; late: boolean }
  | { do: "abort" | "resume" | "wait" | "restart" }
  /** Kills the process that drives, if there is one. */
  | ({ do: "die"; onRecover: "resume" | "pause" } & Deadline)
  | { do: "clone" | "rewind"; back: number };

/** `soon`: while other work is in progress. Otherwise when everything has settled. */
export type Op<R = Rule> = Deed<R> & { who: 0 | 1; soon: boolean };

export interface Plan extends WorldPlan {
  /** The configurations of the two processes may differ. */
  settings: [Setting, Setting];
  ops: Op[];
}

const just = <const T extends string>(name: T) => fc.constant(name);
const onRecover = fc.constantFrom("resume" as const, "resume" as const, "pause" as const);
const decisions: Decision[] = [
  "approve",
  "approve",
  "edit",
  "edit",
  "always_allow_tool",
  "always_allow_category",
  "decline",
];

type Drawn = fc.Arbitrary<Deed<RuleSpec>>;
const says: Drawn = fc.record({ do: just("say"), delivery: fc.constantFrom<Delivery>("send", "steer", "follow_up") });
const rules: Drawn = fc.record({ do: fc.constantFrom("rule", "rule", "grant"), rule: ruleSpec });
const yolo: Drawn = fc.record({ do: just("yolo"), on: fc.boolean() });
const mode: Drawn = fc.record({ do: just("mode"), mode: fc.nat(2) });
const answer = (late: fc.Arbitrary<boolean>): Drawn =>
  fc.record({
    do: just("answer"),
    which: fc.nat(3),
    decision: fc.constantFrom(...decisions),
    args,
    message: fc.boolean(),
    late,
  });
const dies: Drawn = fc.record({
  do: just("die"),
  operations: fc.nat(12),
  place: fc.constantFrom("before", "after"),
  onRecover,
});
const diesRunning: Drawn = fc.record({ do: just("die"), operations: fc.nat(1), place: just("running"), onRecover });
const back = fc.nat(20);
const clones: Drawn = fc.record({ do: just("clone"), back });
const rewinds: Drawn = fc.record({ do: just("rewind"), back });

const op = (deed: Drawn): fc.Arbitrary<Op<RuleSpec>> =>
  fc
    .tuple(deed, fc.record({ who: fc.constantFrom<0 | 1>(0, 0, 1), soon: fc.nat(2).map((n) => n > 0) }))
    .map(([what, how]) => ({ ...what, ...how }));
const inOrder = (...deeds: Drawn[]): fc.Arbitrary<Op<RuleSpec>[]> => fc.tuple(...deeds.map(op));

/** Mostly one operation. Some sequences are drawn more often than by chance. */
const move: fc.Arbitrary<Op<RuleSpec>[]> = fc.oneof(
  { weight: 12, arbitrary: inOrder(answer(fc.constant(false))) },
  { weight: 6, arbitrary: inOrder(rules) },
  { weight: 3, arbitrary: inOrder(yolo) },
  { weight: 2, arbitrary: inOrder(mode) },
  { weight: 2, arbitrary: inOrder(says) },
  { weight: 3, arbitrary: inOrder(dies) },
  { weight: 1, arbitrary: inOrder(clones) },
  { weight: 1, arbitrary: inOrder(rewinds) },
  { weight: 1, arbitrary: inOrder(fc.record({ do: fc.constantFrom("abort", "restart") })) },
  { weight: 2, arbitrary: inOrder(fc.record({ do: fc.constantFrom("resume", "wait") })) },
  // A running call is interrupted, and denied before a process continues it.
  { weight: 3, arbitrary: inOrder(diesRunning, rules) },
  // An answer for a call that was reverted.
  { weight: 2, arbitrary: inOrder(rewinds, says, answer(fc.constant(true))) },
  // A call that YOLO allowed must ask after YOLO was turned off.
  { weight: 2, arbitrary: inOrder(yolo, yolo, answer(fc.constant(false))) },
  { weight: 2, arbitrary: inOrder(clones, rules, says) },
  // The mode is switched while the model streams.
  { weight: 3, arbitrary: inOrder(says, mode, mode) },
);

const part = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("look", "write", "shell") },
  { weight: 2, arbitrary: fc.constantFrom("extra", ...NAMES) },
);
const call = fc.record({ about: fc.nat(2), args });

const drawn = fc.record({
  setting: settingSpec,
  /** The rules of the second process, if they differ from those of the first. */
  others: fc.option(fc.array(ruleSpec, { maxLength: 1 }), { nil: null, freq: 2 }),
  /** The tools that are used. Few, so that rules and calls are about the same ones. */
  cast: fc.array(part, { minLength: 1, maxLength: 3 }),
  batches: fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
  ops: fc.array(move, { minLength: 3, maxLength: 14 }),
  order: fc.array(fc.nat(5), { maxLength: 300, size: "max" }),
});

export const plans: fc.Arbitrary<Plan> = drawn.map(({ setting, others, cast, batches, ops, order }) => {
  const nameOf = (about: number) => cast[about % cast.length]!;
  const ruleOf = ({ about, wide, match, policy }: RuleSpec): Rule => {
    const name = nameOf(about);
    const fits = match === null ? {} : { match };
    return wide ? { category: categoryOf(setting, name), ...fits, policy } : { toolName: name, ...fits, policy };
  };
  const first: Op = { do: "say", delivery: "send", who: 0, soon: false };
  return {
    settings: [
      settingOf(setting, ruleOf),
      settingOf({ ...setting, permissions: others ?? setting.permissions }, ruleOf),
    ],
    batches: batches.map((batch) => batch.map((one) => callOf(nameOf(one.about), one.args))),
    ops: [first, ...ops.flat().map((one): Op => ("rule" in one ? { ...one, rule: ruleOf(one.rule) } : one))],
    order,
  };
});

const settingOf = (spec: SettingSpec, ruleOf: (rule: RuleSpec) => Rule): Setting => ({
  ...spec,
  permissions: spec.permissions.map(ruleOf),
  agents: spec.agents.map((agent) => ({ ...agent, permissions: agent.permissions.map(ruleOf) })),
});

const CONTROL: Record<string, unknown> = {
  ask_user: { question: "Which?" },
  submit_plan: { plan: "First this, then that." },
  write_todos: { todos: [] },
};
const callOf = (name: string, given: Args): ModelCall => [name, isOurs(name) ? given : CONTROL[name]];
