import * as z from "zod/mini";
import { Json } from "./message.ts";

type Shape = z.core.$ZodShape;

/** Lifts an event of version `n` to version `n + 1`. */
export type Lift = (event: Record<string, unknown>) => Record<string, unknown>;

export interface EventEntry<By extends string = string, S extends Shape = Shape> {
  by: By;
  readonly schema: z.ZodMiniObject<S>;
  /** The version written today. */
  v: number;
  /** `lifts[0]` lifts version 1 to 2, and so on: always `v - 1` of them. */
  lifts: readonly Lift[];
  /** Optional fields that an older release must not ignore: an event that has one of them is written in this higher version. */
  newer?: { v: number; fields: readonly string[] };
}

/** The id that a caller gave a command, so that a repetition is recognised, and what a repetition has to be answered with. */
export const CommandMark = z.object({ id: z.string(), answer: z.optional(Json) });
export type CommandMark = z.infer<typeof CommandMark>;

/** Of an event that a person caused: who that was. */
export const signature = { by: z.optional(z.string()) };
/** Of an event that a command appends. */
export const given = { ...signature, command: z.optional(CommandMark) };

/** The schema is built when the first event of its type is stamped or read, because importing the library must stay cheap. */
function entry<By extends "command" | "driver" | "live", S extends Shape>(
  by: By,
  shape: () => S,
  lifts: readonly Lift[] = [],
): EventEntry<By, S> {
  let schema: z.ZodMiniObject<S> | undefined;
  return {
    by,
    get schema() {
      return (schema ??= z.object(shape()));
    },
    v: lifts.length + 1,
    lifts,
  };
}

/** Any process may append it. */
export const command = <S extends Shape>(shape: () => S, newer?: EventEntry["newer"]): EventEntry<"command", S> =>
  Object.assign(entry("command", shape), newer && { newer });
/** Only the process with the lease may append it. */
export const driver = <S extends Shape>(shape: () => S, lifts: readonly Lift[] = []) => entry("driver", shape, lifts);
/** Only subscribers see it. */
export const live = <S extends Shape>(shape: () => S) => entry("live", shape);
