import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { CinchError, reasonOf } from "../errors.ts";

export type JsonSchema = Record<string, unknown>;

/** Must not reject: if the schema throws, the value does not fit. */
export type ValueCheck = (value: unknown) => Promise<{ ok: true; value: unknown } | { ok: false; problem: string }>;

/** The schema of a tool's arguments: JSON Schema for the model, and a check. */
export interface InputSchema {
  readonly json: JsonSchema;
  readonly check: ValueCheck;
}

/**
 * Accepts a Standard Schema with JSON Schema, a result of `jsonSchema()` of the AI SDK, or a plain JSON Schema. Throws `INVALID_CONFIG`
 * for a schema that has no JSON Schema or does not describe objects: providers accept only those.
 */
export function inputSchema(schema: unknown, toolName: string): InputSchema {
  const what = `The input schema of tool "${toolName}"`;
  const { json, check } = readSchema(schema, what);
  if (isBuiltIn(schema)) return new LazySchema(() => jsonOf(json, what), neverRejecting(check));
  const jsonSchema = jsonOf(json, what);
  if (isObjectSchema(jsonSchema)) return { json: jsonSchema, check: neverRejecting(check) };
  const { type } = jsonSchema;
  const problem = typeof type === "string" ? `is a schema of type "${type}"` : "does not describe an object";
  throw invalid(
    `${what} ${problem}, and providers accept objects only. Write z.object({ … }), or type: "object" in JSON Schema.`,
  );
}

/** The schemas of built-in tools describe objects, so their JSON Schema need not be checked here. */
const isBuiltIn = (schema: unknown): boolean => isStandard(schema) && schema["~standard"].vendor === OWN_VENDOR;
export const OWN_VENDOR = "cinch";

/** Makes its JSON Schema on first use, because that takes milliseconds. */
class LazySchema implements InputSchema {
  readonly check: ValueCheck;
  readonly #makeJson: () => JsonSchema;
  #json: JsonSchema | undefined;

  constructor(makeJson: () => JsonSchema, check: ValueCheck) {
    this.#makeJson = makeJson;
    this.check = check;
  }

  get json(): JsonSchema {
    return (this.#json ??= this.#makeJson());
  }
}

/** Checks answers to a suspended call. The model does not see this schema. */
export const answerCheck = (schema: unknown, toolName: string): ValueCheck =>
  neverRejecting(readSchema(schema, `The resume schema of tool "${toolName}"`).check);

const neverRejecting =
  (check: ValueCheck): ValueCheck =>
  async (value) => {
    try {
      return await check(value);
    } catch (error) {
      return { ok: false, problem: `The schema itself failed: ${reasonOf(error)}` };
    }
  };

interface SchemaReader {
  json(): unknown;
  check: ValueCheck;
}

function readSchema(schema: unknown, what: string): SchemaReader {
  if (typeof schema === "function" && !("~standard" in schema)) return readSchema(makeSchema(schema, what), what);
  if (isStandard(schema)) return readStandard(schema, what);
  if (isAiSchema(schema))
    return {
      json: () => schema.jsonSchema,
      check: schema.validate ? checkOfAiSdk(schema.validate) : checkOfJsonSchema(schema.jsonSchema),
    };
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw invalid(`${what} must be a Standard Schema, such as z.object({ … }) of zod, or a JSON Schema object.`);
  if (Object.values(schema).some(isStandard))
    throw invalid(`${what} is an object of schemas. Make it one schema: z.object({ … }).`);
  return { json: () => schema, check: checkOfJsonSchema(schema as JsonSchema) };
}

function makeSchema(make: object, what: string): unknown {
  try {
    return (make as () => unknown)();
  } catch (cause) {
    throw invalid(`${what} is a function that threw: ${reasonOf(cause)}`, cause);
  }
}

/** Some schemas can't be expressed in JSON Schema, such as one of dates. */
function jsonOf(json: () => unknown, what: string): JsonSchema {
  try {
    return JSON.parse(JSON.stringify(json())) as JsonSchema;
  } catch (cause) {
    if (cause instanceof CinchError) throw cause;
    const why = reasonOf(cause);
    const hint = "Use types that JSON has, such as z.iso.date() for a date, or give a plain JSON Schema";
    throw invalid(`${what} has no JSON Schema (${why}). ${hint}.`, cause);
  }
}

function isObjectSchema(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, $ref, anyOf, oneOf, allOf } = schema as JsonSchema;
  if (type !== undefined) return [type].flat().every((one) => one === "object");
  // References are not resolved here.
  if ($ref !== undefined) return true;
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return either.every(isObjectSchema);
  return Array.isArray(allOf) && allOf.some(isObjectSchema);
}

const invalid = (message: string, cause?: unknown): CinchError => new CinchError("INVALID_CONFIG", message, cause);

type Standard = StandardSchemaV1 & Partial<StandardJSONSchemaV1>;
export const isStandard = (schema: unknown): schema is Standard =>
  (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;

function readStandard(schema: Standard, what: string): SchemaReader {
  const standard = schema["~standard"] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  return {
    json() {
      if (standard.jsonSchema) return standard.jsonSchema.input({ target: "draft-07" });
      const hint =
        "Use a library that implements Standard JSON Schema (zod 4.2 or later does), or give a plain JSON Schema";
      throw invalid(`${what} has no JSON Schema for the model. ${hint}.`);
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

function checkOfAiSdk(validate: NonNullable<AiSchema["validate"]>): ValueCheck {
  return async (value) => {
    const result = await validate(value);
    return result.success ? { ok: true, value: result.value } : { ok: false, problem: result.error.message };
  };
}

/** Loads the validator with the first call that needs it: it is large, and most tools don't need it. */
function checkOfJsonSchema(json: JsonSchema): ValueCheck {
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
