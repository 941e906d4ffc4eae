import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { CinchError, reasonOf } from "../errors.ts";

export type JsonSchema = Record<string, unknown>;

/** Must not reject: a schema that fails is one that nothing fits. */
export type ValueCheck = (value: unknown) => Promise<{ ok: true; value: unknown } | { ok: false; problem: string }>;

/** A schema as the loop uses it: what the model is shown, and whether arguments fit. */
export interface InputSchema {
  readonly json: JsonSchema;
  readonly check: ValueCheck;
}

/**
 * Any Standard Schema that can say itself in JSON Schema, what `jsonSchema()` of the AI SDK makes, or a plain JSON Schema. Throws
 * `INVALID_CONFIG` for what can't be shown to a model, and for what is no schema of objects: providers take no other.
 */
export function inputSchema(schema: unknown, toolName: string): InputSchema {
  const what = `The input schema of tool "${toolName}"`;
  const { json, check } = readSchema(schema, what);
  if (isOurs(schema)) return new OwnSchema(() => jsonOf(json, what), careful(check));
  const shown = jsonOf(json, what);
  if (isObjectSchema(shown)) return { json: shown, check: careful(check) };
  const kind = typeof shown["type"] === "string" ? `is a schema of type "${shown["type"]}"` : "is no schema of objects";
  throw wrong(
    `${what} ${kind}, and providers take objects only. Write z.object({ … }), or type: "object" in JSON Schema.`,
  );
}

/** Built-in tools have schemas of objects. What they look like in JSON takes milliseconds, and is not needed before the model is asked. */
const isOurs = (schema: unknown): boolean => isStandard(schema) && schema["~standard"].vendor === OWN_VENDOR;
export const OWN_VENDOR = "cinch";

class OwnSchema implements InputSchema {
  readonly check: ValueCheck;
  readonly #show: () => JsonSchema;
  #json: JsonSchema | undefined;

  constructor(show: () => JsonSchema, check: ValueCheck) {
    this.#show = show;
    this.check = check;
  }

  get json(): JsonSchema {
    return (this.#json ??= this.#show());
  }
}

/** What an answer to a suspended call has to look like. The model never sees it. */
export const answerCheck = (schema: unknown, toolName: string): ValueCheck =>
  careful(readSchema(schema, `The resume schema of tool "${toolName}"`).check);

const careful =
  (check: ValueCheck): ValueCheck =>
  async (value) => {
    try {
      return await check(value);
    } catch (error) {
      return { ok: false, problem: `The schema itself failed: ${reasonOf(error)}` };
    }
  };

interface Read {
  json(): unknown;
  check: ValueCheck;
}

function readSchema(schema: unknown, what: string): Read {
  if (typeof schema === "function" && !("~standard" in schema)) return readSchema(called(schema, what), what);
  if (isStandard(schema)) return ofStandard(schema, what);
  if (isAiSchema(schema))
    return {
      json: () => schema.jsonSchema,
      check: schema.validate ? ofAi(schema.validate) : ofJson(schema.jsonSchema),
    };
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw wrong(`${what} must be a Standard Schema, such as z.object({ … }) of zod, or a JSON Schema object.`);
  if (Object.values(schema).some(isStandard))
    throw wrong(`${what} is an object that holds schemas. Make one schema of it: z.object({ … }).`);
  return { json: () => schema, check: ofJson(schema as JsonSchema) };
}

function called(make: object, what: string): unknown {
  try {
    return (make as () => unknown)();
  } catch (cause) {
    throw wrong(`${what} can't be made: ${reasonOf(cause)}`, cause);
  }
}

/** Some schemas have no JSON Schema, such as one of dates: JSON has none. */
function jsonOf(json: () => unknown, what: string): JsonSchema {
  try {
    return JSON.parse(JSON.stringify(json())) as JsonSchema;
  } catch (cause) {
    if (cause instanceof CinchError) throw cause;
    const why = reasonOf(cause);
    const hint = "Use what JSON has, such as z.iso.date() for a date, or give a plain JSON Schema";
    throw wrong(`${what} has no JSON Schema (${why}). ${hint}.`, cause);
  }
}

function isObjectSchema(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, $ref, anyOf, oneOf, allOf } = schema as JsonSchema;
  if (type !== undefined) return [type].flat().every((one) => one === "object");
  // Where it leads is for the provider to see.
  if ($ref !== undefined) return true;
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return either.every(isObjectSchema);
  return Array.isArray(allOf) && allOf.some(isObjectSchema);
}

const wrong = (message: string, cause?: unknown): CinchError => new CinchError("INVALID_CONFIG", message, cause);

type Standard = StandardSchemaV1 & Partial<StandardJSONSchemaV1>;
export const isStandard = (schema: unknown): schema is Standard =>
  (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;

function ofStandard(schema: Standard, what: string): Read {
  const standard = schema["~standard"] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  return {
    json() {
      if (standard.jsonSchema) return standard.jsonSchema.input({ target: "draft-07" });
      const hint =
        "Use a library that implements Standard JSON Schema (zod 4.2 or later does), or give a plain JSON Schema";
      throw wrong(`${what} can't be shown to a model. ${hint}.`);
    },
    async check(value) {
      const result = await standard.validate(value);
      if (!result.issues) return { ok: true, value: result.value };
      return { ok: false, problem: result.issues.map(issueText).join("\n") };
    },
  };
}

export function issueText({ path = [], message }: StandardSchemaV1.Issue): string {
  const keys = path.map((key) => String(typeof key === "object" ? key.key : key));
  return keys.length > 0 ? `${keys.join(".")}: ${message}` : message;
}

interface AiSchema {
  jsonSchema: JsonSchema;
  validate?: (value: unknown) => Promise<AiValidation> | AiValidation;
}
type AiValidation = { success: true; value: unknown } | { success: false; error: Error };

const isAiSchema = (schema: unknown): schema is AiSchema =>
  typeof schema === "object" && schema !== null && "jsonSchema" in schema && typeof schema.jsonSchema === "object";

function ofAi(validate: NonNullable<AiSchema["validate"]>): ValueCheck {
  return async (value) => {
    const result = await validate(value);
    return result.success ? { ok: true, value: result.value } : { ok: false, problem: result.error.message };
  };
}

/** The validator for plain JSON Schemas is loaded with the first call that needs it: it is large, and most tools do without. */
function ofJson(json: JsonSchema): ValueCheck {
  const loaded = once(async () => {
    const z = await import("zod");
    return { z, parser: z.fromJSONSchema(json as Parameters<typeof z.fromJSONSchema>[0]) };
  });
  return async (value) => {
    const { z, parser } = await loaded();
    const result = parser.safeParse(value);
    return result.success ? { ok: true, value: result.data } : { ok: false, problem: z.prettifyError(result.error) };
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
