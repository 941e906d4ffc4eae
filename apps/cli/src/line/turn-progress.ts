import type { HarnessDisplayState } from "@cinch/core";
import type { Activity } from "../app/activity.ts";
import type { Line } from "../terminal/line.ts";
import { turnWait } from "../views/activity.ts";
import { callSpans } from "../views/call.ts";
import { span } from "../views/spans.ts";
import type { ViewContext } from "../views/view.ts";

const CALL_MS = 2_000;
/** A model that thinks is nothing unusual. */
const WAIT_MS = 10_000;

/**
 * What the user is told of a turn before its results: each call that takes longer than a moment, once, and what else is waited for, with
 * its reason, once.
 */
export class TurnProgress {
  readonly #calls = new Set<string>();
  #retry: Activity["retry"] = null;
  #wait: { since: number | null; what: string } | null = null;

  next(display: HarnessDisplayState, activity: Activity, context: ViewContext): Line[] {
    if (!display.isRunning) return [];
    const lines = this.#startedCalls(display, activity, context);
    if (activity.retry !== null && activity.retry !== this.#retry)
      lines.push(this.#waiting(display, activity, context));
    this.#retry = activity.retry;
    const { what, since } = turnWait(display, activity, context);
    const said = what.map(({ text }) => text).join("");
    const isLong = since !== null && context.now - since >= WAIT_MS && activity.retry === null;
    const isKnown = this.#wait?.since === since && this.#wait.what === said;
    const isCall = Object.values(display.activeTools).some(({ status }) => status === "running");
    if (isLong && !isKnown && !isCall) {
      this.#wait = { since, what: said };
      lines.push({ spans: what });
    }
    return lines;
  }

  #startedCalls({ activeTools }: HarnessDisplayState, { started }: Activity, { now }: ViewContext): Line[] {
    return Object.values(activeTools).flatMap((call): Line[] => {
      const { toolCallId, status } = call;
      const since = started[toolCallId];
      if (status !== "running" || since === undefined || now - since < CALL_MS || this.#calls.has(toolCallId))
        return [];
      this.#calls.add(toolCallId);
      return [{ spans: [span("runs "), ...callSpans(call)] }];
    });
  }

  #waiting(display: HarnessDisplayState, activity: Activity, context: ViewContext): Line {
    return { spans: turnWait(display, activity, context).what };
  }
}
