import * as z from "zod/mini";
import { Policy } from "./rule.ts";

export const Operation = z.enum(["read", "write"]);
export type Operation = z.infer<typeof Operation>;

/** What may be read or written where. Only the workspace knows what a path means. Deleting is writing, listing and searching are reading. */
export const PathRule = z.strictObject({
  operations: z.array(Operation).check(z.minLength(1)),
  paths: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  mode: Policy,
});
export type PathRule = z.infer<typeof PathRule>;

/** Path rules of several agents. Each list is judged on its own, and the strictest verdict counts. */
export const PathRuleLists = z.array(z.array(PathRule));
export type PathRuleLists = readonly (readonly PathRule[])[];
