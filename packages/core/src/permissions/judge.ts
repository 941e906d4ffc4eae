import type { Policy, ToolCategory } from "./rule.ts";

/** How far a pattern covers the arguments of a call. `some` if that is not known. */
export type Fit = "all" | "some" | "none";

/**
 * The more specific rule decides: what looks at the arguments (`pattern`: patterns and path rules, the tool's `policy`, `interruptOn`, a
 * loaded skill), then the tool, then the category. `insist` ranks above all of them: a tool whose `policy` returns `insist` asks, unless
 * YOLO is on.
 */
const RANKS = ["insist", "pattern", "tool", "category"] as const;
type Rank = (typeof RANKS)[number];

/** How a rule for the tool or its category applies to the arguments of one call. */
export interface Finding {
  policy: Policy;
  rank: Rank;
  fit: Fit;
  /** It comes from `interruptOn`. */
  interrupt?: boolean;
  /** Tells the model why the call is denied. */
  reason?: string;
  /** The loaded skill that it comes from. */
  skill?: string;
}

export interface Case {
  category: ToolCategory;
  /** False if the mode or the agent excludes the tool. */
  available: boolean;
  yolo: boolean;
  /** Oldest first. */
  findings: readonly Finding[];
}

export interface Ruling {
  policy: Policy;
  interrupt: boolean;
  /** Tells the model why the call is denied. Missing unless every finding that denies it has a reason. */
  reason?: string | undefined;
  /** The loaded skill because of which the call asks. */
  skill?: string | undefined;
}

/** Decides whether a call may run: what denies it comes first, then YOLO, then the newest finding of the highest rank. */
export function judge({ category, available, yolo, findings }: Case): Ruling {
  const applicable = findings.filter(applies);
  const denying = applicable.filter(({ policy }) => policy === "deny");
  if (!available || denying.length > 0) {
    const hasReason = available && denying.every(({ reason }) => reason !== undefined);
    return { policy: "deny", interrupt: false, ...(hasReason && { reason: denying[0]!.reason }) };
  }
  if (yolo) return { policy: "allow", interrupt: false };
  for (const rank of RANKS) {
    const newest = applicable.findLast((finding) => finding.rank === rank);
    if (newest) return { policy: newest.policy, interrupt: newest.interrupt ?? false, ...skillOf(newest) };
  }
  return { policy: category === "read" || category === "control" ? "allow" : "ask", interrupt: false };
}

/** What the rules of a subagent add to the ruling of its top-level thread. They can't allow anything. `null`: nothing. */
export function restriction(findings: readonly Finding[]): Ruling | null {
  const applicable = findings.filter(applies);
  if (applicable.some(({ policy }) => policy === "deny")) return { policy: "deny", interrupt: false };
  for (const rank of RANKS) {
    const newest = applicable.findLast((finding) => finding.rank === rank);
    if (newest) return newest.policy === "ask" ? { policy: "ask", interrupt: false, ...skillOf(newest) } : null;
  }
  return null;
}

const skillOf = ({ skill }: Finding): { skill?: string } => (skill === undefined ? {} : { skill });

/** To allow a call, a pattern must cover all of its arguments; to ask or deny, some of them are enough. */
const applies = ({ policy, fit }: Finding): boolean => (policy === "allow" ? fit === "all" : fit !== "none");
