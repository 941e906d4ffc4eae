import type { DurableEvent, EndReason, FilePart, Part, Rule, ToolResult } from "@cinch/core";
import type { NewEvent } from "@cinch/core/journal";
import * as fc from "fast-check";
import { ASKING, JournalWriter } from "./journal-writer.ts";

/**
 * Arbitrary journals, as drivers write them and as crashes, rewinds, clones and faulty models leave them. Every event passes `stamp`.
 * Results may be missing, late, duplicated or out of order.
 */

/** The providers, as `agent_start` names them. */
export const PROVIDERS = ["anthropic.messages", "openai.chat", "openai.responses", "google.generative-ai"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The contents of every blob that a generated journal refers to: the beginning of a PNG. */
export const BLOB = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export type PartPlan =
  | { kind: "text" | "reasoning"; text: string; signed: boolean }
  | { kind: "call"; id: string; name: string; input: Record<string, string> }
  | { kind: "hosted"; answered: boolean; failed: boolean }
  | { kind: "source" | "custom" | "file" | "reasoning-file" };

const IRREGULAR = [
  "fails",
  "unknown",
  "suspends",
  "resumes",
  "missing",
  "twice",
  "refused",
  "late",
  "offloads",
] as const;
const CONTROL = ["plans", "lists tasks"] as const;
const DELEGATING = ["delegates", "waits for a child", "delegates in the background", "leaves a child"] as const;

const MEMORY = [
  "observes",
  "reflects",
  "activates",
  "summarises",
  "leaves out",
  "asks",
  "fails",
  "loads a skill",
] as const;

export interface OutcomePlan {
  kind: "ends" | (typeof IRREGULAR | typeof ASKING | typeof CONTROL | typeof DELEGATING)[number];
  result: ToolResult;
  rank: number;
}

export interface StepPlan {
  draft: string | null;
  parts: PartPlan[];
  outcomes: OutcomePlan[];
  steers: UserPlan[];
  takeover: boolean;
  /** Notes of the harness before the model call. */
  notes: { about: "mode" | "tasks"; text: string }[];
  /** A command that is accepted while the calls run. */
  command: NewEvent | null;
  /** The provider from this step on. */
  switched: ProviderName | null;
}

export interface UserPlan {
  text: string;
  files: FilePart[];
}

export type Act =
  | {
      kind: "turn";
      provider: ProviderName;
      input: UserPlan;
      steps: StepPlan[];
      end: Exclude<EndReason, "max_steps"> | "cut";
    }
  | { kind: "note"; text: string }
  | { kind: "rewind" | "clone"; at: number }
  /** The share of the journal that is covered may end anywhere, also within a step. */
  | { kind: "memory"; how: (typeof MEMORY)[number]; at: number }
  | { kind: "command"; event: NewEvent };

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("hello", "Let me look.", "line\nline", "Ünïcödé 🎉", "{}") },
  { weight: 2, arbitrary: fc.constantFrom("", " ", "\n\t", "\u00a0") },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);

const file: fc.Arbitrary<FilePart> = fc.constantFrom<FilePart>(
  { type: "file", mediaType: "image/png", blob: "blob-a" },
  { type: "file", mediaType: "image/png", blob: "blob-b", filename: "b.png" },
  { type: "file", mediaType: "image/png", url: "https://example.com/c.png" },
);

const user: fc.Arbitrary<UserPlan> = fc.record({
  text,
  files: fc.oneof(fc.constant<FilePart[]>([]), fc.array(file, { maxLength: 2 })),
});

/** Ids as core normalises them. There are only a few, so that they occur again in later messages. */
const callId = fc.constantFrom("call_1", "call_2", "toolu_01A", "0", "1", "-", "_", "call_constructor", "x".repeat(60));

const part: fc.Arbitrary<PartPlan> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("text" as const), text, signed: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("reasoning" as const), text, signed: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      id: callId,
      name: fc.constantFrom("read_file", "write-file", "x".repeat(64), "no_such_tool"),
      input: fc.dictionary(fc.constantFrom("path", "toString", "0"), text, { maxKeys: 2, noNullPrototype: true }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("hosted" as const), answered: fc.boolean(), failed: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("source" as const, "custom", "file", "reasoning-file") }) },
);

const resultItem = fc.oneof(fc.record({ type: fc.constant("text" as const), text }), file) satisfies fc.Arbitrary<Part>;
const result: fc.Arbitrary<ToolResult> = fc.record({
  content: fc.oneof(text, fc.array(resultItem, { maxLength: 4 })),
});

const outcome: fc.Arbitrary<OutcomePlan> = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant("ends" as const) },
    { weight: 5, arbitrary: fc.constantFrom(...IRREGULAR) },
    { weight: 4, arbitrary: fc.constantFrom(...ASKING) },
    { weight: 1, arbitrary: fc.constantFrom(...CONTROL) },
    { weight: 1, arbitrary: fc.constantFrom(...DELEGATING) },
  ),
  result,
  rank: fc.nat(9),
});

const rule = fc.constantFrom<Rule>(
  { toolName: "read_file", policy: "allow" },
  { toolName: "read_file", match: "a*", policy: "deny" },
  { toolName: "read_file", match: "ab*", policy: "ask" },
  { category: "execute", policy: "ask" },
);

const A_FILE = { hash: "blob-a", size: 1, parts: [{ blob: "blob-a", size: 1 }] };

const command: fc.Arbitrary<NewEvent> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constantFrom<NewEvent>(
      { type: "thread_renamed", title: "Renamed" },
      { type: "input_accepted", inputId: "later", delivery: "follow_up", content: "Later", named: true },
      {
        type: "input_accepted",
        turnId: "again",
        inputId: "again",
        delivery: "send",
        content: "",
        retry: { turnId: "turn_1", modeId: "default", modelId: "openai.chat/some-model" },
      },
      { type: "input_edited", inputId: "later", content: "Later still" },
      { type: "input_removed", inputId: "later" },
      { type: "abort_requested", inbox: true },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.constantFrom<NewEvent>(
        { type: "mode_changed", modeId: "plan", previousModeId: "default" },
        { type: "mode_changed", modeId: "__proto__", previousModeId: "plan", modelId: "some/model" },
        { type: "model_changed", modelId: "other/model", scope: "mode", modeId: "__proto__" },
        { type: "model_changed", modelId: "other/model", scope: "thread", modeId: "plan" },
        { type: "state_changed", updates: { yolo: true, colour: "red" } },
        { type: "state_changed", updates: { yolo: false, colour: null } },
      ),
      fc.constantFrom<NewEvent>(
        { type: "file_changed", path: "/a", operation: "write", before: null, after: A_FILE, held: true },
        { type: "file_changed", path: "/a", operation: "delete", before: A_FILE, after: null, held: true },
        { type: "file_changed", path: "/__proto__", operation: "command", before: A_FILE, after: null, version: "2" },
        { type: "checkpoint_created", reason: "change", call: "one" },
        { type: "checkpoint_created", reason: "command", call: "__proto__", tree: "before" },
        { type: "checkpoint_created", reason: "settled", call: "__proto__" },
        { type: "checkpoint_created", reason: "restore", restore: [{ path: "/a", from: A_FILE.hash, to: null }] },
        { type: "checkpoint_created", reason: "restored", restored: [{ path: "/a", outcome: "deleted" }] },
      ),
      rule.map((changed): NewEvent => ({ type: "permission_changed", rule: changed })),
      rule.map((granted): NewEvent => {
        return { type: "grant_added", rule: { ...granted, policy: "allow" }, from: "session" };
      }),
    ),
  },
);

const note = fc.record({ about: fc.constantFrom("mode" as const, "tasks"), text });

const step: fc.Arbitrary<StepPlan> = fc.record({
  draft: fc.option(text, { freq: 5 }),
  parts: fc.array(part, { maxLength: 5 }),
  outcomes: fc.array(outcome, { minLength: 5, maxLength: 5 }),
  steers: fc.oneof(
    { weight: 4, arbitrary: fc.constant<UserPlan[]>([]) },
    { weight: 1, arbitrary: fc.array(user, { maxLength: 2 }) },
  ),
  takeover: fc.boolean(),
  notes: fc.oneof(
    { weight: 4, arbitrary: fc.constant<StepPlan["notes"]>([]) },
    { weight: 1, arbitrary: fc.array(note, { maxLength: 2 }) },
  ),
  command: fc.option(command, { freq: 3 }),
  switched: fc.option(fc.constantFrom(...PROVIDERS), { freq: 5 }),
});

const turn = fc.record({
  kind: fc.constant("turn" as const),
  provider: fc.constantFrom(...PROVIDERS),
  input: user,
  steps: fc.array(step, { maxLength: 4 }),
  end: fc.constantFrom("complete" as const, "complete", "aborted", "error", "declined", "budget", "cut"),
});

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: turn },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("note" as const), text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("rewind" as const, "clone"),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("command" as const), event: command }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("memory" as const),
      how: fc.constantFrom(...MEMORY),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
);

const written = (acts: readonly Act[]): DurableEvent[] => {
  const writer = new JournalWriter("thread_a");
  for (const next of acts) writer.act(next);
  return writer.events;
};

export const journals: fc.Arbitrary<DurableEvent[]> = fc.array(act, { maxLength: 5 }).map(written);

/** Journals with a single provider. */
export const journalsOf = (provider: ProviderName): fc.Arbitrary<DurableEvent[]> =>
  fc.array(act, { maxLength: 5 }).map((acts) => written(acts.map((next) => withProvider(provider, next))));

function withProvider(provider: ProviderName, next: Act): Act {
  if (next.kind !== "turn") return next;
  const steps = next.steps.map((one) => ({ ...one, switched: one.switched && provider }));
  return { ...next, provider, steps };
}
