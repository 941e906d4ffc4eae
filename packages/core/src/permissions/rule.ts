import * as z from "zod/mini";

export const Policy = z.enum(["allow", "ask", "deny"]);
export type Policy = z.infer<typeof Policy>;

export const ToolCategory = z.enum(["read", "edit", "execute", "mcp", "other", "control"]);
export type ToolCategory = z.infer<typeof ToolCategory>;

const name = z.string().check(z.minLength(1), z.maxLength(200));
export const Pattern = z.string().check(z.minLength(1), z.maxLength(1_000));

const shape = {
  toolName: z.optional(name),
  category: z.optional(ToolCategory),
  match: z.optional(Pattern),
  policy: Policy,
};

/** A policy for one tool or for a category; with `match`, only for arguments that fit the pattern. */
export const Rule = z
  .strictObject(shape)
  .check(
    z.refine(
      (rule) => (rule.toolName === undefined) !== (rule.category === undefined),
      "must have either a toolName or a category",
    ),
  );
export type Rule = z.infer<typeof Rule>;

/** A rule of a thread. */
export const HeldRule = z.lazy(() =>
  z.object({
    ...shape,
    /** Of two rules that are equally specific, the newer one decides. */
    seq: z.number(),
    /** The rule is a grant that answered an `interruptOn`, and ranks with it. */
    interrupt: z.optional(z.boolean()),
  }),
);
export type HeldRule = z.infer<typeof HeldRule>;

/** The rule as a caller gave it. */
export function plainRule(held: HeldRule): Rule {
  const { seq: _, interrupt: __, ...rule } = held;
  return rule;
}

type Target = Pick<HeldRule, "toolName" | "category" | "match">;

/** The rules except those for the same tool or category and the same pattern. */
export const withoutTarget = (rules: readonly HeldRule[], target: Target): HeldRule[] =>
  rules.filter(
    ({ toolName, category, match }) =>
      toolName !== target.toolName || category !== target.category || match !== target.match,
  );
