/** What a check of `cinch doctor` found. */
export interface Diagnosis {
  area: "runtime" | "terminal" | "sandbox" | "keys" | "database" | "config" | "trust" | "tokens";
  /** `warn`: something works less well than it could. `fail`: something does not work. */
  status: "ok" | "warn" | "fail";
  message: string;
  /** What to do about it. */
  next?: string;
}
