import { CinchError } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import type { Call } from "../folds/call.ts";
import type { ThreadState } from "../folds/state.ts";
import { withTimeout } from "../ports/clock.ts";
import type { Thread } from "../thread/thread.ts";
import { preview } from "../turn/decide.ts";
import { denial, rule } from "./gate.ts";
import { BY_RULES } from "./by-rules.ts";

/** How many rules a thread can have. */
const MOST_RULES = 1_000;

/**
 * Appends what changes the rules of a thread, and in the same append what that means for calls that wait for a yes: those that the
 * rules now allow or deny need no answer any more. If the thread moved on meanwhile, it is decided again.
 */
export async function changePolicies(
  thread: Thread,
  change: (state: ThreadState) => Promise<NewEvent[]>,
): Promise<void> {
  let hints = true;
  for (;;) {
    const before = thread.state;
    const events = await change(before);
    const after = preview(before, events);
    const { rules, grants } = after.control.policies;
    const denies = events.some((event) => event.type === "permission_changed" && event.rule.policy === "deny");
    if (rules.length + grants.length > MOST_RULES && !denies)
      throw new CinchError("INVALID_INPUT", `A thread can have ${MOST_RULES} rules. Use categories or wider patterns.`);
    const changed = after.control.policies !== before.control.policies;
    // A hint, so that nobody is asked in vain: whether a call may run is decided when it runs. Who takes long is not asked twice.
    const hinted: NewEvent[] | undefined =
      changed && hints ? await withTimeout(thread.ports.clock, answersTo(after, thread)) : [];
    if (!hinted) hints = false;
    const values = events.some(({ type }) => type === "state_changed");
    const isDone = await thread.command((state) => {
      const stands = isSame(state, before) && (!values || state.control.values === before.control.values);
      return { events: stands ? [...events, ...(hinted ?? [])] : [], result: stands };
    });
    if (isDone) return;
  }
}

const asking = ({ turn }: ThreadState): readonly Call[] => turn?.calls.filter(({ state }) => state === "asking") ?? [];

function isSame(a: ThreadState, b: ThreadState): boolean {
  const [now, then] = [asking(a), asking(b)];
  return (
    a.control.policies === b.control.policies &&
    now.length === then.length &&
    now.every((call, at) => call === then[at])
  );
}

async function answersTo(state: ThreadState, { id: threadId, ports: { modes } }: Thread): Promise<NewEvent[]> {
  const { turn, control, resourceId } = state;
  const calls = asking(state);
  // A mode that this process does not know is not for it to judge.
  if (!turn || calls.length === 0 || !modes.has(turn.modeId)) return [];
  const setup = await modes.setup(control, turn.modeId);
  const context = { threadId, resourceId };
  const answers = await Promise.all(
    calls.map(async ({ toolCallId, toolName, input: args, approval }): Promise<NewEvent[]> => {
      const tool = setup.tools.get(toolName);
      const checked = await tool?.schema.check(args);
      if (!tool || !checked?.ok || !approval) return [];
      const ruling = await rule({ tool, input: checked.value, context }, setup.gate, control.policies);
      const { policy } = ruling;
      if (policy === "ask") return [];
      const { turnId } = turn;
      const { digest } = approval;
      const resolved = { type: "tool_approval_resolved" as const, turnId, toolCallId, toolName, digest, by: BY_RULES };
      if (policy === "allow") return [{ ...resolved, decision: "approve" }];
      return [{ ...resolved, decision: "decline", message: denial(toolName, setup, ruling) }];
    }),
  );
  return answers.flat();
}
