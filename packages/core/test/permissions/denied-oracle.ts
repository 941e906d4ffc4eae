import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { DurableEvent, HeldRule, Json, Policy, Rule } from "@cinch/core";
import {
  categoryOf,
  checkedArgs,
  fitOf,
  isOurs,
  modeId,
  placeOf,
  type Args,
  type Setting,
  type ToolSpec,
} from "./denied-setting.ts";

/** An independent implementation of the permission rules in the docs, which shares no code with the gate. It is simple and slow. */

/** A rule or a grant of a thread. Lists are ordered, oldest first. */
interface Said {
  toolName?: string;
  category?: string;
  match?: string;
  policy: Policy;
  grant: boolean;
  /** A grant that answered an `interruptOn`, and ranks with it. */
  over: boolean;
}

/** What is in force after one event of a journal. */
interface Now {
  said: readonly Said[];
  yolo: boolean | null;
  modeId: string;
}

const CONTROL: ToolSpec = { category: "control", effect: "once", matches: "absent", suggest: "absent", place: [] };

interface Asked {
  toolName: string;
  args: Json;
  modeId: string;
}

export function verdict(setting: Setting, now: Now, { toolName, args, modeId: inMode }: Asked): Policy {
  const mode = setting.modes.find((_, at) => modeId(at) === inMode)!;
  const agent = setting.agents[mode.agent]!;
  const spec = isOurs(toolName) ? setting.tools[toolName] : CONTROL;
  const input = isOurs(toolName) ? checkedArgs(args) : ({ words: [], does: "end" } satisfies Args);
  const category = categoryOf(setting, toolName);
  // Oldest first. Of the configuration, path rules and interruptOn count as older than rules.
  const rules: readonly (Rule | Said)[] = [...setting.permissions, ...agent.permissions, ...now.said];
  const matching = rules.filter((rule) => {
    const named = "toolName" in rule ? rule.toolName === toolName : "category" in rule && rule.category === category;
    if (!named || rule.match === undefined) return named;
    const fit = fitOf(spec, rule.match, input);
    return rule.policy === "allow" ? fit === "all" : fit !== "none";
  });
  const place = placeOf(spec, input);
  // 1
  if (matching.some(({ policy }) => policy === "deny") || place === "deny" || place === "throws") return "deny";
  if (mode.availableTools?.includes(toolName) === false || agent.availableTools?.includes(toolName) === false)
    return "deny";
  if (toolName === "extra" && !mode.extra) return "deny";
  // 2
  if (now.yolo ?? setting.yolo) return "allow";
  // 3
  const interrupt = setting.interruptOn[toolName];
  const interrupts = interrupt && (interrupt.throws || interrupt.word === null || input.words.includes(interrupt.word));
  const isSpecific = (rule: Rule | Said) => rule.match !== undefined || ("over" in rule && rule.over);
  // Oldest first: path rules, the configuration's rules, interruptOn, and then the thread's rules.
  const configured = matching.filter((rule) => isSpecific(rule) && !("grant" in rule));
  const said = matching.filter((rule) => isSpecific(rule) && "grant" in rule);
  const specific: Policy[] = [
    ...(place ? [place] : []),
    ...configured.map(({ policy }) => policy),
    ...(interrupts ? ["ask" as const] : []),
    ...said.map(({ policy }) => policy),
  ];
  const plain = matching.filter((rule) => !isSpecific(rule));
  const newest =
    specific.at(-1) ??
    plain.findLast((rule) => "toolName" in rule)?.policy ??
    plain.findLast((rule) => "category" in rule)?.policy;
  // 4
  return newest ?? (category === "read" || category === "control" ? "allow" : "ask");
}

/** A call of the newest answer. */
interface CallView {
  toolName: string;
  /** The arguments that it runs with. */
  args: Json;
  state: "open" | "asking" | "started" | "suspended" | "ended";
  asked: { args: Json; digest: string } | null;
  /** What a person approved. */
  yes: { args: Json } | null;
}

export interface Started {
  threadId: string;
  toolCallId: string;
  toolName: string;
  key: string;
  args: Json;
  seq: number;
}

/** One real run of a tool. */
export interface Ran {
  threadId: string;
  toolCallId: string;
  toolName: string;
  key: string;
  args: Args;
  /** The last `seq` of the journal when it ran. */
  seq: number;
}

/** Facts about threads that are not in their journals. */
export interface Known {
  /** The configuration of the process that wrote an event. */
  settingAt(threadId: string, seq: number): Setting;
  /** The mode in force after a cut (a clone or a rewind), by thread and `seq` of the cut. */
  modeAfter(threadId: string, seq: number): string;
  /** The digest that the answer with this `by` gave, if it gave one. */
  digestOf(by: string): string | undefined;
}

/** Checks the journal of one thread, including reverted events, and throws at a violation. */
export class Walk {
  readonly starts: Started[] = [];
  /** By key, the `seq` of the end of a call. */
  readonly ends = new Map<string, number>();
  /** What was in force after each event. */
  readonly states = new Map<number, Now>();
  readonly #known: Known;
  #setting!: Setting;
  #now: Now;
  #step: { modeId: string; since: Set<string> };
  #calls = new Map<string, CallView>();
  #keys = new Map<string, string>();

  constructor(known: Known, events: readonly DurableEvent[]) {
    this.#known = known;
    this.#now = { said: [], yolo: null, modeId: modeId(0) };
    this.#step = { modeId: modeId(0), since: new Set() };
    for (const event of events) {
      this.#setting = known.settingAt(event.threadId, event.seq);
      try {
        this.#control(event);
        this.#turn(event);
        this.#call(event);
      } catch (error) {
        throw new Error(`${event.threadId}, event ${event.seq} (${event.type})`, { cause: error });
      }
      this.states.set(event.seq, this.#now);
    }
  }

  #control(event: DurableEvent): void {
    const { said, yolo } = this.#now;
    switch (event.type) {
      case "permission_changed": {
        const rest = said.filter((one) => !isSame(one, event.rule));
        this.#now = { ...this.#now, said: [...rest, { ...event.rule, grant: false, over: false }] };
        return;
      }
      case "grant_added": {
        const rest = said.filter((one) => !one.grant || !isSame(one, event.rule));
        const grant = { ...event.rule, grant: true, over: event.interrupt ?? false };
        this.#now = { ...this.#now, said: [...rest, grant] };
        return;
      }
      case "state_changed":
        if (typeof event.updates["yolo"] === "boolean") this.#now = { ...this.#now, yolo: event.updates["yolo"] };
        return;
      case "mode_changed":
        this.#now = { ...this.#now, modeId: event.modeId };
        this.#step.since.add(event.modeId);
        return;
      case "thread_cloned":
        this.#now = {
          said: event.rules.map((rule) => saidOf(rule, false)),
          yolo: (event.state["yolo"] as boolean | undefined) ?? null,
          modeId: this.#known.modeAfter(event.threadId, event.seq),
        };
        return;
      case "thread_rewound": {
        // A rewind does not revert permissions, so the event carries what was in force before it.
        const carried = [
          ...event.rules.map((rule) => saidOf(rule, false)),
          ...event.grants.map((one) => saidOf(one, true)),
        ];
        const kept = [...said.filter((one) => !one.grant), ...said.filter((one) => one.grant)];
        assert.deepEqual([carried, event.state?.["yolo"] ?? null], [kept, yolo], "a rewind changed the rules");
        this.#now = { ...this.#now, modeId: this.#known.modeAfter(event.threadId, event.seq) };
        this.#calls = new Map();
      }
    }
  }

  #turn(event: DurableEvent): void {
    if (event.type === "agent_start") {
      const since = event.resumed ? this.#step.since : new Set([this.#now.modeId]);
      this.#step = { modeId: event.modeId, since };
    } else if (event.type === "step_end") this.#step = { ...this.#step, since: new Set([this.#now.modeId]) };
    else if (event.type === "message_end" && event.message.role === "assistant" && !event.interrupted) {
      assert.ok(
        this.#step.since.has(this.#step.modeId),
        `the step is in mode ${this.#step.modeId}, which was not chosen`,
      );
      this.#calls = new Map(
        event.message.content.flatMap((part) => {
          if (part.type !== "tool-call") return [];
          const { toolCallId, toolName, input } = part;
          return [[toolCallId, { toolName, args: input, state: "open" as const, asked: null, yes: null }] as const];
        }),
      );
      this.#keys = new Map();
    }
  }

  #verdict({ toolName, args }: CallView): Policy {
    return verdict(this.#setting, this.#now, { toolName, args, modeId: this.#step.modeId });
  }

  #call(event: DurableEvent): void {
    if (!("toolCallId" in event) || event.type === "context_offloaded") return;
    const call = this.#calls.get(event.toolCallId);
    assert.ok(call && call.toolName === event.toolName, "this call was not asked for");
    assert.notEqual(call.state, "ended", "this call has ended");
    switch (event.type) {
      case "tool_approval_required":
        assert.deepEqual([this.#verdict(call), event.args], ["ask", call.args], "this call does not need an approval");
        assert.notDeepEqual(call.yes, { args: call.args }, "the call was approved already");
        call.asked = { args: event.args, digest: event.digest };
        call.state = "asking";
        return;
      case "tool_approval_resolved":
        return this.#resolved(event, call);
      case "tool_start":
        return this.#start(event, call);
      case "tool_suspended":
        assert.equal(call.state, "started");
        call.state = "suspended";
        return;
      case "tool_resumed":
        assert.equal(call.state, "suspended", "an answer to what was not asked");
        call.state = "open";
        return;
      case "tool_end": {
        call.state = "ended";
        const key = this.#keys.get(event.toolCallId);
        if (key !== undefined) this.ends.set(key, event.seq);
        if (!isDenial(event)) return;
        const refused = this.#setting.onAsk === "decline" ? ["deny", "ask"] : ["deny"];
        assert.ok(refused.includes(this.#verdict(call)), "refused what no rule denies");
      }
    }
  }

  #resolved(event: DurableEvent<"tool_approval_resolved">, call: CallView): void {
    const { decision, by = "", digest, args } = event;
    assert.equal(call.state, "asking", "an answer to what was not asked");
    const shown = this.#known.digestOf(by);
    if (shown !== undefined) assert.equal(call.asked?.digest, shown, "the answer was given for something else");
    call.state = "open";
    if (by === "rules") {
      const said = { allow: "approve", deny: "decline", ask: "" }[this.#verdict(call)];
      return assert.equal(decision, said, "the rules do not say so");
    }
    if (decision === "decline") return;
    if (decision === "edit") call.args = args!;
    else assert.equal(digest, call.asked?.digest);
    call.yes = { args: call.args };
  }

  #start(event: DurableEvent<"tool_start">, call: CallView): void {
    const { threadId, toolCallId, toolName, key, args, seq } = event;
    assert.deepEqual(args, call.args, "it runs with other arguments than were asked for");
    assert.ok(call.state !== "asking" && call.state !== "suspended", "the call has no answer yet");
    assert.ok(call.state !== "started" || event.effect !== "once", "it was interrupted, and must not run again");
    const policy = this.#verdict(call);
    assert.notEqual(policy, "deny", "DENIED, and it was started");
    if (policy === "ask") assert.deepEqual(call.yes, { args }, "this was not approved");
    assert.equal(this.#keys.get(toolCallId) ?? key, key, "the key of a call has changed");
    this.#keys.set(toolCallId, key);
    call.state = "started";
    this.starts.push({ threadId, toolCallId, toolName, key, args, seq });
  }
}

const isSame = (one: Said, other: Rule): boolean =>
  (["toolName", "category", "match"] as const).every((name) => one[name] === (other as Partial<Said>)[name]);

function saidOf({ toolName, category, match, policy, interrupt = false }: HeldRule, grant: boolean): Said {
  const target = toolName === undefined ? { category: category! } : { toolName };
  return { ...target, ...(match === undefined ? {} : { match }), policy, grant, over: interrupt };
}

const isDenial = ({ result }: DurableEvent<"tool_end">): boolean =>
  isDeepStrictEqual(result.details, { code: "PERMISSION_DENIED" });

/** Every run was recorded before, ran once, with the recorded arguments, and not after its end. */
export function auditRuns(ran: readonly Ran[], starts: readonly Started[], ends: ReadonlyMap<string, number>): void {
  const counted = new Map<string, number>();
  for (const run of ran) {
    const { threadId, toolCallId, toolName, key, args, seq } = run;
    const what = `${toolName} ${JSON.stringify(args)} of ${threadId} at ${seq}`;
    const before = starts.filter((start) => start.key === key && start.threadId === threadId && start.seq <= seq);
    const count = (counted.get(key) ?? 0) + 1;
    counted.set(key, count);
    assert.ok(count <= before.length, `ran ${count} times, started ${before.length} times: ${what}`);
    const { args: written, ...start } = before.at(-1)!;
    assert.deepEqual([start.toolCallId, start.toolName], [toolCallId, toolName], what);
    assert.deepEqual(checkedArgs(written), args, what);
    assert.ok((ends.get(key) ?? Infinity) > seq, `ran after its end: ${what}`);
  }
}

/** Checks that a clone has the rules of its source. */
export function auditClone(clone: Now, source: ReadonlyMap<number, Now>, between: readonly [number, number]): void {
  const [from, to] = between;
  const rules = ({ said, yolo }: Now) => [said.filter((one) => !one.grant), yolo];
  const inForce = [...source].flatMap(([seq, now]) => (seq >= from && seq <= to ? [rules(now)] : []));
  assert.ok(
    inForce.some((one) => isDeepStrictEqual(one, rules(clone))),
    "a clone has other rules than its source",
  );
}
