import { reasonOf } from "../errors.ts";
import type { Json } from "./message.ts";

/** A value can't be converted to JSON without losing data. The message names the part of the value, and what to give instead. */
export class NoJson extends Error {
  override readonly name = "NoJson";
}

const DEEPEST = 500;

/** The value as JSON, as `JSON.stringify` sees it. Throws `NoJson` where that would lose data or fail. */
export function toJson(value: unknown): Json {
  const path: string[] = [];
  try {
    const json = new Walk(path).json(value);
    if (json === undefined && value !== undefined) throw new NoJson("its toJSON() returns nothing.");
    return json ?? null;
  } catch (error) {
    if (error instanceof NoJson) throw error;
    throw new NoJson(`${placeOf(path)} can't be read: ${reasonOf(error)}`, { cause: error });
  }
}

export function hasJsonObject(value: unknown): boolean {
  try {
    const json = toJson(value);
    return typeof json === "object" && json !== null && !Array.isArray(json);
  } catch (error) {
    if (error instanceof NoJson) return false;
    throw error;
  }
}

/** Converts a value that is not content to text for the model. Throws `NoJson`. */
export function dataText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "(no result)";
  try {
    return JSON.stringify(toJson(value));
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw new NoJson(`The tool ran, but its result has no JSON: ${error.message}`, { cause: error });
  }
}

const placeOf = (path: readonly string[]): string => (path.length === 0 ? "it" : `"${path.join(".")}"`);

class Walk {
  readonly #path: string[];
  readonly #above = new Set<object>();

  constructor(path: string[]) {
    this.#path = path;
  }

  /** `undefined`: an object omits the value, and an array has `null` in its place. */
  json(value: unknown): Json | undefined {
    switch (typeof value) {
      case "undefined":
        return undefined;
      case "string":
      case "boolean":
        return value;
      case "number":
        if (Number.isFinite(value)) return value;
        throw this.#problem(`is ${value}. Give null, or a text that explains it`);
      case "bigint":
        throw this.#problem("is a BigInt. Give it as a text, with String(value)");
      case "symbol":
        throw this.#problem("is a symbol. Give a text");
      case "function":
        // A method of an object is omitted. A value that is itself a function is a mistake.
        if (this.#path.length > 0) return undefined;
        throw this.#problem("is a function. Call it, and give what it returns");
      case "object":
        return value === null ? null : this.#within(value);
    }
  }

  #within(value: object): Json | undefined {
    if (this.#above.has(value)) throw this.#problem("contains itself: a cycle. Give ids in the place of objects");
    if (this.#path.length > DEEPEST) throw this.#problem(`is nested too deep: at most ${DEEPEST} levels`);
    this.#above.add(value);
    const json = this.#object(value);
    this.#above.delete(value);
    return json;
  }

  #object(value: object): Json | undefined {
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
      throw this.#problem('is bytes. A tool returns them as content: [{ type: "file", mediaType, data }]');
    if (value instanceof Date && Number.isNaN(value.getTime()))
      throw this.#problem("is an invalid Date. Check the text that it was made from");
    if ("toJSON" in value && typeof value.toJSON === "function") {
      const own: unknown = value.toJSON(this.#path.at(-1) ?? "");
      if (own !== value) return this.json(own);
    }
    if (Array.isArray(value)) return Array.from(value, (item, at) => this.#at(String(at), item) ?? null);
    const fields = Object.entries(value);
    if (!isPlain(value) && (fields.length === 0 || OPAQUE.some((type) => value instanceof type)))
      throw this.#problem(describe(value));
    return Object.fromEntries(
      fields.flatMap(([key, field]) => {
        const json = this.#at(key, field);
        return json === undefined ? [] : [[key, json]];
      }),
    );
  }

  #at(key: string, value: unknown): Json | undefined {
    this.#path.push(key);
    const json = this.json(value);
    this.#path.pop();
    return json;
  }

  #problem(what: string): NoJson {
    // Of a long path, only the end is shown.
    const near = this.#path.length > 10 ? ["…", ...this.#path.slice(-10)] : this.#path;
    return new NoJson(`${placeOf(near)} ${what}.`);
  }
}

/** True also for a plain object of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** These keep data outside their fields, which JSON would lose. */
const OPAQUE = [Map, Set, Promise, Error];

const HINTS: Readonly<Record<string, string>> = {
  Map: "Give Object.fromEntries(map)",
  Set: "Give Array.from(set)",
  Promise: "Give what it resolves to: await it first",
  Response: "Give what it holds: await response.text()",
};

function describe(value: object): string {
  if (value instanceof Error) return `is an Error ("${value.message}"). Throw it, or give its message`;
  const name = String((value.constructor as { name?: unknown } | undefined)?.name ?? "") || "class instance";
  const hint = Object.hasOwn(HINTS, name) ? HINTS[name] : "Give a plain object with what matters of it";
  return `is ${/^[AEIOU]/i.test(name) ? "an" : "a"} ${name}, whose contents JSON does not show. ${hint}`;
}
