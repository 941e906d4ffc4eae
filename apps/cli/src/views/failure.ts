import type { Budget, EndReason, HarnessDisplayState } from "@cinch/core";
import type { Line } from "../terminal/line.ts";
import { wrapLines } from "../text/wrap.ts";
import { signs } from "./signs.ts";
import { dim, roomOf, span } from "./spans.ts";
import { keyOrCommand, type ViewContext } from "./view.ts";

/** What the user can do next, by the code of the error. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  PARKED: "Send a message to try again, or go back with Esc Esc.",
  PROVIDER_AUTH: "Check the key with cinch doctor, or choose another model with /model.",
  PROVIDER_NOT_FOUND: "Choose another model with /model.",
  PROVIDER_REJECTED: "Choose another model with /model, or go back with Esc Esc.",
  PROVIDER_REFUSED: "Rephrase, or go back with Esc Esc.",
  PROVIDER_NETWORK: "Check the network, then send a message to try again.",
  PROVIDER_RATE_LIMIT: "Wait a while, then send a message to try again; or choose another model with /model.",
  CONTEXT_OVERFLOW: "Shorten the conversation with /compact, or go back with Esc Esc.",
  STORE_FULL: "Free some space on the disk, then send a message to try again.",
  INVALID_CONFIG: "Correct the configuration, then start cinch again.",
};

/** A limit in dollars is refused with a model of unknown price. The user removes it without another start. */
const LIMIT_OR_CONFIG =
  "Remove the limit in dollars with /budget none, or correct the configuration and start cinch again.";

/** The error of the current turn, or of the last one. `budget`: what was in force. */
export function errorLines(
  error: HarnessDisplayState["lastError"],
  context: ViewContext & { budget?: Budget },
): Line[] {
  if (!error) return [];
  const { code, message, retryable } = error;
  const known = code === "INVALID_CONFIG" && limitsCost(context.budget) ? LIMIT_OR_CONFIG : nextStepOf(code);
  const next = known ?? (retryable ? "Send a message to try again." : "Send another message, or go back with Esc Esc.");
  const rewind = keyOrCommand("Esc Esc", "/rewind", context);
  return failureLines({ what: message, detail: code, next: next.replace("Esc Esc", rewind) }, context);
}

const nextStepOf = (code: string): string | undefined =>
  Object.hasOwn(NEXT_STEPS, code) ? NEXT_STEPS[code] : undefined;

const limitsCost = (budget: Budget = {}): boolean => budget.cost !== undefined || budget.thread?.cost !== undefined;

/** A turn that reached a limit. An error has lines of its own. */
export function endLines(end: { reason: EndReason; detail: string | undefined } | null, context: ViewContext): Line[] {
  switch (end?.reason) {
    case "max_steps":
      return failureLines(
        { what: "The turn reached its limit of steps.", detail: end.detail, next: "Send a message to continue." },
        context,
      );
    case "budget":
      return failureLines(
        {
          what: "The turn reached its budget.",
          detail: end.detail,
          next: "Raise it with /budget, then send a message to continue.",
        },
        context,
      );
    default:
      return [];
  }
}

function failureLines(
  { what, detail, next }: { what: string; detail: string | undefined; next: string },
  context: ViewContext,
): Line[] {
  const margins = { first: [signs.failed, span(" ")], rest: [span("  ")] };
  const spans = [span(what), ...(detail ? [span(` (${detail})`, dim)] : [])];
  const room = roomOf(context);
  return [
    ...wrapLines(spans, room, margins),
    ...wrapLines([span(next)], room, { first: margins.rest, rest: margins.rest }),
  ];
}
