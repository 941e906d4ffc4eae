import type { Policy, ToolCategory } from "./rule.ts";

/** How far a pattern covers the arguments of a call. What can't be told is `some`. */
export type Fit = "all" | "some" | "none";

/**
 * The more specific rule decides: a pattern, a path rule or `interruptOn`, then the tool, then the category. Over all of them stands what
 * the place insists on in which the tool works: that lifts only YOLO.
 */
export type Rank = "place" | "pattern" | "tool" | "category";

/** A rule for this tool or its category, held against the arguments of one call. */
export interface Finding {
  policy: Policy;
  rank: Rank;
  fit: Fit;
  /** It is `interruptOn` that says so. */
  interrupt?: boolean;
  /** For the model: why it is denied. */
  tell?: string;
}

export interface Case {
  category: ToolCategory;
  /** False if the mode, the agent or a profile leaves the tool out. */
  available: boolean;
  yolo: boolean;
  /** Oldest first. */
  findings: readonly Finding[];
}

export interface Ruling {
  policy: Policy;
  interrupt: boolean;
  /** Why it is denied, if everything that denies it says so. */
  tell?: string | undefined;
}

/** Whether a call may run. The first line that applies decides. */
export function judge({ category, available, yolo, findings }: Case): Ruling {
  const apply = findings.filter(bites);
  const denying = apply.filter(({ policy }) => policy === "deny");
  if (!available || denying.length > 0) {
    const isTold = available && denying.every(({ tell }) => tell !== undefined);
    return { policy: "deny", interrupt: false, ...(isTold && { tell: denying[0]!.tell }) };
  }
  if (yolo) return { policy: "allow", interrupt: false };
  for (const rank of ["place", "pattern", "tool", "category"]) {
    const newest = apply.findLast((finding) => finding.rank === rank);
    if (newest) return { policy: newest.policy, interrupt: newest.interrupt ?? false };
  }
  return { policy: category === "read" || category === "control" ? "allow" : "ask", interrupt: false };
}

/** To allow, a pattern has to cover everything the call does; to ask or deny, anything of it. */
const bites = ({ policy, fit }: Finding): boolean => (policy === "allow" ? fit === "all" : fit !== "none");
