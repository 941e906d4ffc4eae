import { reasonOf } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import { hasReport, type Call } from "../folds/call.ts";
import type { Json } from "../events/message.ts";
import type { Answer } from "../model/answer.ts";
import {
  digestOf,
  judgeCall,
  pathRulesOf,
  type GateRuling,
  type JudgedCall,
  type PolicyLevels,
} from "../permissions/gate.ts";
import { offer } from "../permissions/offer.ts";
import { orAborted } from "../ports/clock.ts";
import type { NamedTool } from "../tools/tool.ts";
import { previewField } from "./preview.ts";
import { DECLINED, endDeclinedCall, endWithoutResult, notRun, endWithReport } from "./decide.ts";
import { ancestorsOf, type Driver, type RunnableCall } from "./driver.ts";
import { denialBy, type Setup } from "./setup.ts";

/** What the driver does with a call that the model asked for. */
type Authorized = {
  toolCallId: string;
  /** The rules that the call was judged by. `null`: the decision does not depend on rules. */
  policies: PolicyLevels | null;
} & (
  | { kind: "run"; runnable: RunnableCall; event(turnId: string, key: string): NewEvent }
  | { kind: "ask" | "refuse"; event(turnId: string): NewEvent }
);

/** Why a call of this answer must not run. `undefined`: the answer gives no reason. */
export function refusal(answer: Answer, toolCallId: string): string | undefined {
  if (answer.problem !== undefined) return answer.problem;
  // The length limit may have cut the arguments, so none of these calls is safe to run.
  if (answer.finishReason === "length")
    return "Not run: the answer was cut off by the length limit. Call again with less.";
  return answer.refused.get(toolCallId);
}

/** Every call passes through here before it runs, for the first time or again. */
export async function authorize(
  driver: Driver,
  call: Call,
  { setup, refused }: { setup: Setup; refused?: string | undefined },
): Promise<Authorized> {
  const { toolCallId } = call;
  if (call.state === "declined")
    return { kind: "refuse", toolCallId, policies: null, event: (turnId) => endDeclinedCall(call, turnId) };
  if (refused !== undefined) return refuse(call, refused);
  // The child has run already, so there is nothing to permit.
  if (hasReport(call))
    return { kind: "refuse", toolCallId, policies: null, event: (turnId) => endWithReport(call, turnId) };
  // An earlier process recorded the question. This one declines it, because no person answers here.
  if (call.state === "asking") return refuse(call, NO_APPROVAL, { code: DECLINED });
  if (call.state === "suspended") return refuse(call, NO_ANSWER, { code: DECLINED });
  // Schemas and patterns are code of the user: they may hang, and an error in one must not affect the other calls.
  const checked = check(driver, call, setup).catch((error: unknown) => refuse(call, `Not run: ${reasonOf(error)}`));
  return (await orAborted(checked, driver.signal)) ?? refuse(call, notRun("aborted"));
}

/** The only check that lets a call run. */
async function check(driver: Driver, call: Call, setup: Setup): Promise<Authorized> {
  const { state, journal, ports, signal } = driver;
  const { resourceId, agent } = state;
  const above = ancestorsOf(agent, ports.threads);
  if (above.length !== (agent?.path.length ?? 0)) throw new Error("The threads above this subagent are not open here.");
  const refreshAbove = () => driver.askStore(() => Promise.all(above.map((thread) => thread.refresh())));
  await refreshAbove();
  const { policies } = journal;
  const { toolCallId, toolName, args } = call;
  const tool = setup.tools.get(toolName);
  if (!tool) return refuse(call, `There is no tool "${toolName}". The tools are: ${namesOf(setup).join(", ")}.`);
  // Patterns and policies get one copy and the tool another: the tool runs with what was judged, even if they change theirs.
  const [judged, run] = await Promise.all([tool.schema.check(copy(args)), tool.schema.check(copy(args))]);
  if (!judged.ok) return refuse(call, `Invalid arguments for ${toolName}:\n${judged.problem}`);
  if (!run.ok) return refuse(call, `Invalid arguments for ${toolName}:\n${run.problem}`);
  const resumed = await resumption(call, tool);
  if (resumed && "problem" in resumed) return refuse(call, `The answer does not fit ${toolName}:\n${resumed.problem}`);
  const judgedCall: JudgedCall = {
    tool,
    input: judged.value,
    context: { threadId: journal.id, resourceId, signal },
  };
  const ruling = await judgeCall(judgedCall, setup.gate, policies);
  const { policy } = ruling;
  switch (policy) {
    case "deny":
      return refuse(call, denialBy(setup, toolName, ruling), { code: "PERMISSION_DENIED", policies });
    case "ask": {
      const digest = await digestOf(toolName, args);
      if (call.approved === digest) break;
      if (setup.onAsk === "decline") return refuse(call, NO_APPROVAL, { code: DECLINED, policies });
      const asking = above[ruling.level];
      const grantTo = asking ? { grantTo: asking.id } : {};
      const offered = await offer(judgedCall, setup.gate, ruling);
      const preview = await previewField(judgedCall, driver, pathRulesOf(setup.gate, policies));
      const about = { digest, path: agent?.path ?? [], ...offered, ...preview, ...grantTo };
      const event = (turnId: string) => ({ ...question(call, ruling), turnId, ...about });
      return { kind: "ask", toolCallId, policies, event };
    }
    case "allow":
      break;
    default:
      throw new Error(`"${policy satisfies never}" is not a policy.`);
  }
  const isStillPermitted = async () => {
    await refreshAbove();
    if (journal.policies === policies) return true;
    const now = await judgeCall(judgedCall, setup.gate, journal.policies);
    return now.policy === "allow" || (now.policy === "ask" && policy === "ask");
  };
  const runnable = {
    tool,
    input: run.value,
    resumed,
    pathRules: pathRulesOf(setup.gate, policies),
    wasInterrupted: call.state === "started",
    isStillPermitted: agent && isStillPermitted,
  };
  const started = { type: "tool_start" as const, toolCallId, toolName, args, effect: tool.effect };
  return { kind: "run", toolCallId, runnable, policies, event: (turnId, key) => ({ ...started, turnId, key }) };
}

const namesOf = ({ tools, isExcluded }: Setup): string[] => [...tools.keys()].filter((name) => !isExcluded(name));

const copy = (args: Json): Json => structuredClone(args);

/** The answer that a suspended call continues with. It is checked here, since the process that accepted it may lack the tool. */
async function resumption({ answered, suspension, data }: Call, tool: NamedTool) {
  if (!answered) return null;
  const checked = await tool.checkAnswer?.(copy(data));
  if (checked && !checked.ok) return { problem: checked.problem };
  return { payload: suspension?.suspendPayload ?? null, data: (checked ? checked.value : data) as Json };
}

/** `policies`: the rules that refuse the call, if rules do. A call that a crash interrupted may have had its effect. */
function refuse(
  call: Call,
  reason: string,
  { code, policies = null }: { code?: string; policies?: PolicyLevels | null } = {},
): Authorized {
  const wasInterrupted = call.state === "started";
  const content = wasInterrupted ? `${reason} It was started before: its outcome is unknown.` : reason;
  const more = {
    ...(code === undefined ? {} : { details: { code } }),
    ...(wasInterrupted ? { unknown: true as const } : {}),
  };
  const event = (turnId: string) => endWithoutResult(call, { turnId, content, ...more });
  return { kind: "refuse", toolCallId: call.toolCallId, policies, event };
}

const NO_APPROVAL =
  "Declined: this call needs a person's approval, and no person is available. Continue without it, or say what you would have done.";

export const NO_ANSWER =
  "Declined: this call waits for a person's answer, and no person is available. Decide for yourself, and say what you assumed.";

/** Whether the rules are still those that the call was judged by. */
export const isCurrent = ({ policies }: Authorized, { journal }: Driver): boolean =>
  policies === null || policies === journal.policies;

/** The event that starts, asks for or refuses the call. */
export const firstEvent = (call: Authorized, { turnId, key }: { turnId: string; key: string }): NewEvent =>
  call.kind === "run" ? call.event(turnId, key) : call.event(turnId);

/** The calls that may run, by id. */
export const runnableOf = (calls: readonly Authorized[]): ReadonlyMap<string, RunnableCall> =>
  new Map(calls.flatMap((call) => (call.kind === "run" ? [[call.toolCallId, call.runnable] as const] : [])));

const question = ({ toolCallId, toolName, args }: Call, { category, interrupt, skill }: GateRuling) => ({
  type: "tool_approval_required" as const,
  toolCallId,
  toolName,
  args,
  category,
  ...(interrupt ? { interrupt } : {}),
  ...(skill === undefined ? {} : { skill }),
});
