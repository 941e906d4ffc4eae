import { reasonOf } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import type { Call } from "../folds/call.ts";
import type { Policies } from "../folds/control.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Json } from "../events/message.ts";
import type { Answer } from "../model/answer.ts";
import { denial, digestOf, rule, type Asked, type GateRuling } from "../permissions/gate.ts";
import { offer } from "../permissions/offer.ts";
import { orAborted } from "../ports/clock.ts";
import type { NamedTool } from "../tools/tool.ts";
import { declined, notDone } from "./decide.ts";
import type { Driver, Ready } from "./driver.ts";
import type { Setup } from "./setup.ts";

/** What is to be done with a call that was asked for. */
export type Authorized = {
  toolCallId: string;
  /** The rules that it was judged by. `null`: it does not depend on any. */
  policies: Policies | null;
} & (
  | { kind: "run"; ready: Ready; event(turnId: string, key: string): NewEvent }
  | { kind: "ask" | "refuse"; event(turnId: string): NewEvent }
);

/** Why the calls of this answer can't be trusted, if they can't. */
export function refusal(answer: Answer, toolCallId: string): string | undefined {
  if (answer.problem !== undefined) return answer.problem;
  // A stop by length may have cut the arguments, so none of these calls is safe to run.
  if (answer.finishReason === "length")
    return "Not run: the answer was cut off by the length limit. Call again with less.";
  return answer.refused.get(toolCallId);
}

/** Whatever runs, for the first time or again, has come through here. */
export async function authorize(
  driver: Driver,
  call: Call,
  { setup, refused }: { setup: Setup; refused?: string | undefined },
): Promise<Authorized> {
  const { toolCallId } = call;
  if (call.state === "declined")
    return { kind: "refuse", toolCallId, policies: null, event: (turnId) => declined(call, turnId) };
  if (refused !== undefined) return refuse(call, refused);
  // It has waited since an earlier process asked, and here no person is there to answer.
  if (call.state === "asking") return refuse(call, NOBODY_THERE);
  if (call.state === "suspended") return refuse(call, NO_ANSWER);
  // Schemas and patterns are not ours: they may take for ever, and what they throw must not cost the others their answer.
  const judging = judged(driver, call, setup).catch((error: unknown) => refuse(call, `Not run: ${reasonOf(error)}`));
  return (await orAborted(judging, driver.signal)) ?? refuse(call, "Not run: the turn was aborted.");
}

/** The one permission check. */
async function judged({ state, journal, signal }: Driver, call: Call, setup: Setup): Promise<Authorized> {
  const { resourceId, control } = state;
  const { policies } = control;
  const { toolCallId, toolName, input: args } = call;
  const tool = setup.tools.get(toolName);
  if (!tool)
    return refuse(call, `There is no tool "${toolName}". The tools are: ${[...setup.tools.keys()].join(", ")}.`);
  // A copy for those who judge and one for the tool: what runs is what was shown, whatever they do to theirs.
  const [shown, run] = await Promise.all([tool.schema.check(copy(args)), tool.schema.check(copy(args))]);
  if (!shown.ok || !run.ok) return refuse(call, `Invalid arguments for ${toolName}:\n${shown.ok ? "" : shown.problem}`);
  const resumed = await resumption(call, tool);
  if (resumed && "problem" in resumed) return refuse(call, `The answer does not fit ${toolName}:\n${resumed.problem}`);
  const asked: Asked = { tool, input: shown.value, context: { threadId: journal.id, resourceId, signal } };
  const ruling = await rule(asked, setup.gate, policies);
  const { policy } = ruling;
  switch (policy) {
    case "deny":
      return refuse(call, denial(toolName, setup, ruling), policies);
    case "ask": {
      const digest = await digestOf(toolName, args);
      if (call.approved === digest) break;
      if (setup.onAsk === "decline") return refuse(call, NOBODY_THERE, policies);
      const event = await question(call, { asked, digest }, setup, ruling);
      return { kind: "ask", toolCallId, policies, event };
    }
    case "allow":
      break;
    default:
      throw new Error(`"${policy satisfies never}" is not a policy.`);
  }
  const ready = { tool, input: run.value, resumed, wasCut: call.state === "started" };
  const started = { type: "tool_start" as const, toolCallId, toolName, args, effect: tool.effect };
  return { kind: "run", toolCallId, ready, policies, event: (turnId, key) => ({ ...started, turnId, key }) };
}

const copy = (args: Json): Json => structuredClone(args);

/** What a call that was suspended goes on with. It may have been answered by somebody who does not have the tool. */
async function resumption({ answered, payload, data }: Call, tool: NamedTool) {
  if (!answered) return null;
  const checked = await tool.answers?.(copy(data));
  if (checked && !checked.ok) return { problem: checked.problem };
  return { payload, data: (checked ? checked.value : data) as Json };
}

/** `by`: the rules that refuse it, if it is they. What had begun before a crash may have had its effect all the same. */
function refuse(call: Call, content: string, by: Policies | null = null): Authorized {
  const wasCut = call.state === "started";
  const told = wasCut ? `${content} It had begun before: its outcome is unknown.` : content;
  const more = {
    ...(by ? { details: { code: "PERMISSION_DENIED" } } : {}),
    ...(wasCut ? { unknown: true as const } : {}),
  };
  const event = (turnId: string) => notDone(call, { turnId, content: told, ...more });
  return { kind: "refuse", toolCallId: call.toolCallId, policies: by, event };
}

const NOBODY_THERE =
  "Declined: this call needs a person's approval, and no person is there to give it. Go on without it, or say what you would have done.";

export const NO_ANSWER =
  "Declined: this call waits for a person's answer, and no person is there to give it. Decide for yourself, and say what you assumed.";

/** Whether the rules are still those that the call was judged by. */
export const stands = ({ policies }: Authorized, { control }: ThreadState): boolean =>
  policies === null || policies === control.policies;

/** The event with which an authorized call begins, waits or ends. */
export const firstEvent = (call: Authorized, { turnId, key }: { turnId: string; key: string }): NewEvent =>
  call.kind === "run" ? call.event(turnId, key) : call.event(turnId);

/** Those of these calls that may run. */
export const readyOf = (calls: readonly Authorized[]): ReadonlyMap<string, Ready> =>
  new Map(calls.flatMap((call) => (call.kind === "run" ? [[call.toolCallId, call.ready] as const] : [])));

async function question(
  { toolCallId, toolName, input: args }: Call,
  { asked, digest }: { asked: Asked; digest: string },
  { gate }: Setup,
  ruling: GateRuling,
): Promise<(turnId: string) => NewEvent> {
  const { category, interrupt } = ruling;
  const offered = await offer(asked, gate, ruling);
  const about = { toolCallId, toolName, args, category, digest, ...offered, ...(interrupt ? { interrupt } : {}) };
  return (turnId) => ({ type: "tool_approval_required", turnId, path: [], ...about });
}
