import * as z from "zod/mini";

export const SubagentSessions = z.strictObject({ defaultMode: z.optional(z.enum(["stateless", "new"])) });
export type SubagentSessions = z.infer<typeof SubagentSessions>;

const AwaitMode = z.enum(["all", "allSettled", "any", "race"]);
export type AwaitMode = z.infer<typeof AwaitMode>;

export const SubagentBackground = z.strictObject({
  /** How many children run at the same time. The others are queued. */
  maxConcurrent: z.optional(
    z.custom<number>(
      (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 1),
      "must be a whole number from 1 on, or Infinity for no limit",
    ),
  ),
  /** How long a child may be at work, in ms. */
  timeout: z.optional(z.number("must be a number of milliseconds").check(z.gt(0))),
  /** Whether children that this process drives are cancelled when the harness is closed. */
  autoCancel: z.optional(z.boolean()),
  /** Whether the end of a child wakes an idle parent. */
  wake: z.optional(z.boolean()),
  tools: z.optional(
    z.strictObject({
      status: z.optional(z.boolean()),
      cancel: z.optional(z.boolean()),
      await: z.optional(
        z.union(
          [z.boolean(), z.array(AwaitMode)],
          `must be true, false or a list of these: ${AwaitMode.options.join(", ")}`,
        ),
      ),
    }),
  ),
});
export type SubagentBackground = z.infer<typeof SubagentBackground>;

/** An option that `true` turns on with its defaults. */
export const switchable = <S extends z.ZodMiniObject>(options: S) =>
  z.union(
    [z.boolean(), options],
    `must be true, false or an object with the keys ${Object.keys(options.def.shape).join(", ")}`,
  );

export interface BackgroundOptions {
  maxConcurrent: number;
  timeout: number | undefined;
  autoCancel: boolean;
  wake: boolean;
  tools: { status: boolean; cancel: boolean; await: readonly AwaitMode[] };
}

export function sessionsOf(sessions: boolean | SubagentSessions | undefined): Required<SubagentSessions> | null {
  if (!sessions) return null;
  return { defaultMode: (sessions === true ? undefined : sessions.defaultMode) ?? "stateless" };
}

export function backgroundOf(background: boolean | SubagentBackground | undefined): BackgroundOptions | null {
  if (!background) return null;
  const {
    maxConcurrent = Infinity,
    timeout,
    autoCancel = true,
    wake = true,
    tools = {},
  } = background === true ? {} : background;
  const { status = true, cancel = true } = tools;
  return { maxConcurrent, timeout, autoCancel, wake, tools: { status, cancel, await: awaitModes(tools.await) } };
}

function awaitModes(modes: boolean | readonly AwaitMode[] = true): readonly AwaitMode[] {
  if (typeof modes !== "boolean") return modes;
  return modes ? AwaitMode.options : [];
}
