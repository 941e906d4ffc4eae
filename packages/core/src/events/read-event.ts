import type * as z from "zod/mini";
import { CinchError } from "../errors.ts";
import type { EventEntry } from "./event-entry.ts";
import { eventMap, isForeign, lift, type DurableEvent, type EventType } from "./event-map.ts";

type Test = (value: unknown) => boolean;

/** By event type. Each is built when an event of its type is first read: most threads have only a few types. */
const tests = new Map<string, Test>();

/**
 * Converts an event from the store to its current version. Throws `CORRUPT` if an event of a known type does not fit the map: a fold
 * could fail on it, or compute a wrong state. An event of a newer release passes: the folds skip it, and a driver stops at it.
 */
export function readEvent(event: DurableEvent): DurableEvent {
  try {
    const lifted = lift(event);
    if (isWellFormed(lifted)) return lifted;
  } catch (error) {
    throw malformed(event, error);
  }
  throw malformed(event);
}

/** True also for an event of a newer release, which may have any shape. */
export function isWellFormed(event: DurableEvent): boolean {
  if (typeof event.type !== "string" || typeof event.v !== "number" || typeof event.at !== "number") return false;
  return isForeign(event) || (!isLive(event.type) && testFor(event.type)(event));
}

/** Whether it is a live event that this release knows: one of another process may be of another release. */
export function isWellFormedLive(event: { type: string; threadId?: unknown; at?: unknown }): boolean {
  const isStamped = typeof event.threadId === "string" && typeof event.at === "number";
  return isStamped && isLive(event.type) && testFor(event.type)(event);
}

function malformed({ type, seq, threadId }: DurableEvent, cause?: unknown): CinchError {
  return new CinchError(
    "CORRUPT",
    `Event ${seq} of thread "${threadId}" is not a well-formed "${type}". Nothing was changed, and other threads are not affected. ` +
      "Restore the store from a backup, or delete the thread with deleteThread().",
    cause,
  );
}

const isLive = (type: string): boolean => Object.hasOwn(eventMap, type) && eventMap[type as EventType].by === "live";

function testFor(type: string): Test {
  const known = tests.get(type);
  if (known) return known;
  const test = testOf((eventMap as Record<string, EventEntry>)[type]!.schema);
  tests.set(type, test);
  return test;
}

/** Checks what the schema checks, except refinements. Without messages and copies, it takes a fifth of the time of `stamp`. */
function testOf(schema: z.core.$ZodType): Test {
  const { def } = schema as unknown as { def: z.core.$ZodTypes["_zod"]["def"] };
  switch (def.type) {
    case "string":
    case "number":
    case "boolean":
      return (value) => typeof value === def.type;
    case "literal":
      return (value) => def.values.includes(value as string);
    case "enum": {
      const values = new Set<unknown>(Object.values(def.entries));
      return (value) => values.has(value);
    }
    case "custom":
      return (value) => def.fn!(value as never) === true;
    case "optional": {
      const test = testOf(def.innerType);
      return (value) => value === undefined || test(value);
    }
    case "nullable": {
      const test = testOf(def.innerType);
      return (value) => value === null || test(value);
    }
    case "array": {
      const test = testOf(def.element);
      return (value) => Array.isArray(value) && value.every(test);
    }
    case "tuple": {
      const items = def.items.map(testOf);
      return (value) =>
        Array.isArray(value) && value.length === items.length && items.every((test, at) => test(value[at]));
    }
    case "record": {
      const test = testOf(def.valueType);
      return (value) => isObject(value) && Object.values(value).every(test);
    }
    case "union": {
      const options = def.options.map(testOf);
      return (value) => options.some((test) => test(value));
    }
    case "object": {
      const fields = Object.entries(def.shape).map(([key, field]) => [key, testOf(field)] as const);
      return (value) => isObject(value) && fields.every(([key, test]) => test(value[key]));
    }
    case "lazy": {
      // Most threads have only a few kinds of parts.
      let test: Test | undefined;
      return (value) => (test ??= testOf(def.getter()))(value);
    }
    default:
      throw new Error(
        `The event map uses a schema "${def.type}" that read-event.ts does not support. Add a case for it.`,
      );
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
