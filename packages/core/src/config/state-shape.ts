import type { StandardSchemaV1 } from "@standard-schema/spec";
import { CinchError, reasonOf, type ErrorCode } from "../errors.ts";
import { NoJson, toJson } from "../events/json.ts";
import type { Json } from "../events/message.ts";
import type { Memory } from "../ports/memory.ts";
import { didYouMean } from "./nearest.ts";
import { issueText } from "../tools/schema.ts";

export type State = Record<string, Json>;

/** The type of a thread's state without a `stateSchema`. */
export interface StateValues {
  [key: string]: Json | undefined;
}

/** The state of a thread, with the built-in key `yolo`. */
export type WholeState<Values = StateValues> = Values & { yolo: boolean };

/** What `setState` takes: any part of the state. Without a `stateSchema`, any values that can be converted to JSON. */
export type StateUpdates<Values = StateValues> = string extends keyof Values
  ? Record<string, unknown>
  : Partial<Values> & { yolo?: boolean; om?: object };

const STATE_CHARS = 1_000_000;

/** Schema and initial values of the state of a thread. `yolo` and, with a memory, `om` are built in: the schema does not get them. */
export class StateShape {
  readonly yolo: boolean;
  readonly #initial: State;
  readonly #schema: StandardSchemaV1 | undefined;
  /** The initial state before validation: a schema that transforms its input may reject its own output. */
  readonly #input: Record<string, unknown>;

  readonly #memory: Pick<Memory, "checkSettings"> | undefined;

  constructor(
    schema: StandardSchemaV1 | undefined,
    initialState: Record<string, unknown> | undefined,
    memory?: Pick<Memory, "checkSettings">,
  ) {
    const { yolo = false, ...all } = initialState ?? {};
    this.#memory = memory;
    const om = this.#hasSettings ? initialSettings(all["om"], memory) : {};
    const input = this.#hasSettings ? withoutOm(all) : all;
    if (typeof yolo !== "boolean")
      throw new CinchError("INVALID_CONFIG", "Harness: initialState.yolo must be true or false.");
    this.#schema = schema;
    this.#input = input;
    this.yolo = yolo;
    const source = { code: "INVALID_CONFIG", what: "Harness: initialState" } as const;
    const result = schema?.["~standard"].validate(input);
    if (result instanceof Promise) throw new CinchError("INVALID_CONFIG", `Harness: ${ASYNC_SCHEMA}`);
    if (initialState && result?.issues) throw invalidState(result.issues, source);
    if (result && !result.issues) refuseUnknown(input, result.value, source);
    this.#initial = asState({ ...((result && !result.issues ? result.value : input) as object), ...om }, source);
  }

  /** A copy of the whole state. `yolo` is `null` for a thread that has not set it. */
  whole(values: State, { yolo }: { yolo: boolean | null }): WholeState {
    return structuredClone({ ...this.#initial, ...values, yolo: yolo ?? this.yolo });
  }

  /** The settings of the memory for a thread. `own`: those that the thread has set. */
  settings(own: Json | undefined): Json | undefined {
    return own ?? this.#initial["om"];
  }

  /** The updates as JSON, whatever the state is. Throws `INVALID_INPUT`. */
  given(updates: unknown): State {
    if (typeof updates !== "object" || updates === null || Array.isArray(updates))
      throw new CinchError("INVALID_INPUT", "setState takes an object with the keys to change.");
    const { yolo, ...rest } = updates as Record<string, unknown>;
    if (this.#hasSettings && "om" in rest) this.#memory?.checkSettings?.(rest["om"]);
    if (yolo !== undefined && typeof yolo !== "boolean")
      throw new CinchError("INVALID_INPUT", "yolo must be true or false.");
    const changes = asState(rest, SET_STATE);
    return yolo === undefined ? changes : { ...changes, yolo };
  }

  /** The updates as JSON. Throws `INVALID_INPUT` if the state would not fit its schema. */
  checked(values: State, updates: unknown): State {
    const given = this.given(updates);
    const { yolo: _, ...changes } = given;
    if (JSON.stringify({ ...values, ...changes }).length > STATE_CHARS)
      throw new CinchError(
        "INVALID_INPUT",
        `The state of a thread can have at most ${STATE_CHARS} characters of JSON. Keep large data elsewhere.`,
      );
    if (this.#schema && Object.keys(changes).length > 0) this.#check(this.#schema, values, changes);
    return given;
  }

  get #hasSettings(): boolean {
    return this.#memory?.checkSettings !== undefined;
  }

  #check(schema: StandardSchemaV1, allValues: State, allChanges: State): void {
    const [values, changes] = this.#hasSettings
      ? [withoutOm(allValues), withoutOm(allChanges)]
      : [allValues, allChanges];
    const result = validate(schema, { ...this.#input, ...values, ...changes });
    if (result instanceof Promise) throw new CinchError("INVALID_INPUT", `setState: ${ASYNC_SCHEMA}`);
    if (result.issues) throw invalidState(result.issues, SET_STATE);
    refuseUnknown(changes, result.value, SET_STATE);
  }
}

const withoutOm = <Value>(state: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(state).filter(([key]) => key !== "om"));

function initialSettings(om: unknown, memory: Pick<Memory, "checkSettings"> | undefined): { om?: unknown } {
  if (om === undefined) return {};
  try {
    memory?.checkSettings?.(om);
    return { om };
  } catch (cause) {
    throw new CinchError("INVALID_CONFIG", `Harness: initialState.om can't be used. ${reasonOf(cause)}`, cause);
  }
}

const ASYNC_SCHEMA = "the stateSchema returned a promise; it must validate synchronously.";

/** The code and the beginning of an error. */
interface ErrorSource {
  code: ErrorCode;
  what: string;
}

const SET_STATE: ErrorSource = { code: "INVALID_INPUT", what: "setState" };

/** Without this, keys that the schema strips would be lost silently. */
function refuseUnknown(input: object, output: unknown, { code, what }: ErrorSource): void {
  const known = Object.keys(Object(output) as object);
  const unknown = Object.keys(input).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new CinchError(code, `${what}: the stateSchema has no key "${unknown}": ${didYouMean(unknown, known)}`);
}

function validate(schema: StandardSchemaV1, state: unknown) {
  try {
    return schema["~standard"].validate(state);
  } catch (cause) {
    throw new CinchError("INVALID_INPUT", `The stateSchema failed: ${reasonOf(cause)}`, cause);
  }
}

const invalidState = (issues: readonly StandardSchemaV1.Issue[], { code, what }: ErrorSource): CinchError =>
  new CinchError(code, `${what} does not fit the stateSchema:\n${issues.map(issueText).join("\n")}`);

/** The value as JSON, without keys that are `undefined`. */
function asState(value: unknown, { code, what }: ErrorSource): State {
  try {
    return toJson(value ?? {}) as State;
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw new CinchError(code, `${what} takes JSON, and the state was not changed: ${error.message}`, error);
  }
}
