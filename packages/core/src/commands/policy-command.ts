import { hasProfiles } from "../config/profiles.ts";
import { CinchError } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import { BY_RULES, type Call } from "../folds/call.ts";
import type { ThreadState } from "../folds/state.ts";
import { withTimeout } from "../ports/clock.ts";
import { SignedThread } from "../thread/signed-thread.ts";
import type { Thread } from "../thread/thread.ts";
import { stateAfter } from "../turn/decide.ts";
import { denialBy } from "../turn/setup.ts";
import { judgeCall, type PolicyLevels } from "../permissions/gate.ts";

/** For rules and grants of a thread together. */
const MAX_RULES = 1_000;

/**
 * The command behind everything that may change the rules of a thread: rules, grants, YOLO, and approvals that add a grant. The same
 * append answers the waiting calls that the new rules allow or deny. If rules or waiting calls change meanwhile, all events are computed
 * again. `mustJudge`: the rules of a thread above have changed.
 */
export async function policyCommand(
  signed: SignedThread,
  change: (state: ThreadState) => Promise<NewEvent[]>,
  mustJudge = false,
): Promise<void> {
  const { thread } = signed;
  let mayJudge = true;
  for (;;) {
    const before = thread.state;
    const events = await change(before);
    const after = stateAfter(before, events);
    const { rules, grants } = after.control.policies;
    const denies = events.some((event) => event.type === "permission_changed" && event.rule.policy === "deny");
    if (rules.length + grants.length > MAX_RULES && !denies)
      throw new CinchError(
        "INVALID_INPUT",
        `A thread can have at most ${MAX_RULES} rules. Use categories or wider patterns.`,
      );
    const isChanged = mustJudge || after.control.policies !== before.control.policies;
    // These answers only save the person a question: the driver judges each call again when it runs. So a timeout here is harmless, but
    // it is not waited for twice.
    const answers: NewEvent[] | undefined =
      isChanged && mayJudge ? await withTimeout(thread.ports.clock, answersByRules(after, thread)) : [];
    if (!answers) mayJudge = false;
    const hasValues = events.some(({ type }) => type === "state_changed");
    const isDone = await signed.command((state) => {
      const isCurrent = isSame(state, before) && (!hasValues || state.control.values === before.control.values);
      return { events: isCurrent ? [...events, ...(answers ?? [])] : [], result: isCurrent };
    });
    if (!isDone) continue;
    if (isChanged) await judgeChildren(thread);
    return;
  }
}

/** Answers the waiting calls of subagents that the rules allow or deny now. If that fails, a person answers them. */
async function judgeChildren({ children }: Thread): Promise<void> {
  if (children.isOpening) await children.opened();
  await Promise.allSettled(children.open.map((child) => policyCommand(new SignedThread(child), async () => [], true)));
}

const askingCalls = ({ turn }: ThreadState): readonly Call[] =>
  turn?.calls.filter(({ state }) => state === "asking") ?? [];

/** Whether both states have the same rules and the same calls that wait for an approval. */
function isSame(a: ThreadState, b: ThreadState): boolean {
  const [callsOfA, callsOfB] = [askingCalls(a), askingCalls(b)];
  return (
    a.control.policies === b.control.policies &&
    callsOfA.length === callsOfB.length &&
    callsOfA.every((call, at) => call === callsOfB[at])
  );
}

async function answersByRules(state: ThreadState, thread: Thread): Promise<NewEvent[]> {
  const { id: threadId, ports, policies } = thread;
  const { modes } = ports;
  const levels = policies.with(policies.length - 1, state.control.policies) as unknown as PolicyLevels;
  // Without the threads above it, this process does not have all rules of a subagent.
  if (policies.length !== 1 + (state.agent?.path.length ?? 0)) return [];
  const { turn, resourceId } = state;
  const calls = askingCalls(state);
  // Without the mode, this process does not have all rules.
  if (!turn || calls.length === 0 || !modes.has(turn.modeId)) return [];
  await modes.findNameOfCalls(state);
  const setup = modes.setupOfCalls(state);
  // Without the model, this process does not have its profile.
  if (!setup.isResolved && hasProfiles()) return [];
  const context = { threadId, resourceId };
  const answers = await Promise.all(
    calls.map(async ({ toolCallId, toolName, args, approval }): Promise<NewEvent[]> => {
      const tool = setup.tools.get(toolName);
      const checked = await tool?.schema.check(args);
      if (!tool || !checked?.ok || !approval) return [];
      const ruling = await judgeCall({ tool, input: checked.value, context }, setup.gate, levels);
      const { policy } = ruling;
      if (policy === "ask") return [];
      const { turnId } = turn;
      const { digest } = approval;
      const resolved = { type: "tool_approval_resolved" as const, turnId, toolCallId, toolName, digest, by: BY_RULES };
      if (policy === "allow") return [{ ...resolved, decision: "approve" }];
      return [{ ...resolved, decision: "decline", message: denialBy(setup, toolName, ruling) }];
    }),
  );
  return answers.flat();
}
