import type { StandardSchemaV1 } from "@standard-schema/spec";
import { CinchError, reasonOf, type ErrorCode } from "../errors.ts";
import { NoJson, toJson } from "../events/json.ts";
import type { Json } from "../events/message.ts";
import { didYouMean } from "./nearest.ts";
import { issueText } from "../tools/schema.ts";

export type State = Record<string, Json>;

/** What the state of a thread looks like where no `stateSchema` says more. */
export interface StateValues {
  [key: string]: Json | undefined;
}

/** The state of a thread, with what is built in. */
export type WholeState<Values = StateValues> = Values & { yolo: boolean };

/** What `setState` takes: any part of the state. Without a `stateSchema` it is whatever has a JSON. */
export type StateUpdates<Values = StateValues> = string extends keyof Values
  ? Record<string, unknown>
  : Partial<Values> & { yolo?: boolean };

const STATE_CHARS = 1_000_000;

/** What the state of a thread looks like, and how it begins. `yolo` is built in, and not the schema's business. */
export class StateShape {
  readonly yolo: boolean;
  readonly #initial: State;
  readonly #schema: StandardSchemaV1 | undefined;
  /** What the schema is given: it may make something else of its input, which it would not take back. */
  readonly #given: Record<string, unknown>;

  constructor(schema: StandardSchemaV1 | undefined, initialState: Record<string, unknown> | undefined) {
    const { yolo = false, ...given } = initialState ?? {};
    if (typeof yolo !== "boolean")
      throw new CinchError("INVALID_CONFIG", "Harness: initialState.yolo is true or false.");
    this.#schema = schema;
    this.#given = given;
    this.yolo = yolo;
    const result = schema?.["~standard"].validate(given);
    if (result instanceof Promise)
      throw new CinchError("INVALID_CONFIG", "Harness: a stateSchema must answer at once, not by a promise.");
    if (initialState && result?.issues) throw refused("INVALID_CONFIG", "Harness: initialState", result.issues);
    if (result && !result.issues) refuseStrange(given, result.value, "INVALID_CONFIG", "Harness: initialState");
    this.#initial = asState(result && !result.issues ? result.value : given, "INVALID_CONFIG", "Harness: initialState");
  }

  /** The whole state, of what was set and how it began: a copy, to do with as one likes. */
  whole(values: State, yolo: boolean | null): WholeState {
    return structuredClone({ ...this.#initial, ...values, yolo: yolo ?? this.yolo });
  }

  /** The updates as they are to be kept. Throws `INVALID_INPUT` if the state would not fit its schema. */
  checked(values: State, updates: unknown): State {
    if (typeof updates !== "object" || updates === null || Array.isArray(updates))
      throw new CinchError("INVALID_INPUT", "setState takes an object: what is to change.");
    const { yolo, ...own } = updates as Record<string, unknown>;
    if (yolo !== undefined && typeof yolo !== "boolean")
      throw new CinchError("INVALID_INPUT", "yolo is true or false.");
    const wanted = asState(own, "INVALID_INPUT", "setState");
    if (JSON.stringify({ ...values, ...wanted }).length > STATE_CHARS)
      throw new CinchError("INVALID_INPUT", `The state of a thread can have ${STATE_CHARS} characters of JSON.`);
    if (this.#schema && Object.keys(wanted).length > 0) this.#check(this.#schema, values, wanted);
    return yolo === undefined ? wanted : { ...wanted, yolo };
  }

  #check(schema: StandardSchemaV1, values: State, wanted: State): void {
    const result = validated(schema, { ...this.#given, ...values, ...wanted });
    if (result instanceof Promise)
      throw new CinchError("INVALID_INPUT", "The stateSchema answers by a promise; it must answer at once.");
    if (result.issues) throw refused("INVALID_INPUT", "setState", result.issues);
    refuseStrange(wanted, result.value, "INVALID_INPUT", "setState");
  }
}

/** A schema that leaves out what it does not know would lose it without a word. */
function refuseStrange(given: object, known: unknown, code: ErrorCode, what: string): void {
  const keys = Object.keys(Object(known) as object);
  const strange = Object.keys(given).find((key) => !keys.includes(key));
  if (strange === undefined) return;
  throw new CinchError(code, `${what}: the stateSchema does not know "${strange}": ${didYouMean(strange, keys)}`);
}

function validated(schema: StandardSchemaV1, state: unknown) {
  try {
    return schema["~standard"].validate(state);
  } catch (cause) {
    throw new CinchError("INVALID_INPUT", `The stateSchema failed: ${reasonOf(cause)}`, cause);
  }
}

const refused = (code: ErrorCode, what: string, issues: readonly StandardSchemaV1.Issue[]): CinchError =>
  new CinchError(code, `${what} does not fit the stateSchema:\n${issues.map(issueText).join("\n")}`);

/** The state is JSON. A key without a value is left out. */
function asState(value: unknown, code: ErrorCode, what: string): State {
  try {
    return toJson(value ?? {}) as State;
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw new CinchError(code, `${what} takes JSON, and nothing was changed: ${error.message}`, error);
  }
}
