import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { CinchError } from "./errors.ts";

export type JsonSchema = Record<string, unknown>;

/** A schema as the loop uses it: what the model is shown, and whether arguments fit. */
export interface InputSchema {
  json: JsonSchema;
  /** Must not reject: a schema that fails is one that nothing fits. */
  check(value: unknown): Promise<{ ok: true; value: unknown } | { ok: false; problem: string }>;
}

/** Any Standard Schema that can say itself in JSON Schema, what `jsonSchema()` of the AI SDK makes, or a plain JSON Schema. */
export function inputSchema(schema: unknown, toolName: string): InputSchema {
  const { json, check } = readSchema(schema, toolName);
  return {
    json,
    check: async (value) => {
      try {
        return await check(value);
      } catch (error) {
        return { ok: false, problem: `The schema itself failed: ${String(error)}` };
      }
    },
  };
}

function readSchema(schema: unknown, toolName: string): InputSchema {
  if (typeof schema === "function" && !("~standard" in schema))
    return readSchema((schema as () => unknown)(), toolName);
  if (isStandard(schema)) return ofStandard(schema, toolName);
  if (isAiSchema(schema))
    return { json: schema.jsonSchema, check: schema.validate ? ofAi(schema.validate) : ofJson(schema.jsonSchema) };
  if (typeof schema === "object" && schema !== null)
    return { json: schema as JsonSchema, check: ofJson(schema as JsonSchema) };
  throw new CinchError(
    "INVALID_CONFIG",
    `Tool "${toolName}" needs an input schema: a Standard Schema or a JSON Schema object.`,
  );
}

type Standard = StandardSchemaV1 & Partial<StandardJSONSchemaV1>;
export const isStandard = (schema: unknown): schema is Standard =>
  (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;

function ofStandard(schema: Standard, toolName: string): InputSchema {
  const standard = schema["~standard"] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  if (!standard.jsonSchema) {
    const hint =
      "use a library that implements Standard JSON Schema (zod 4.2 or later does), or give a plain JSON Schema";
    throw new CinchError(
      "INVALID_CONFIG",
      `The input schema of tool "${toolName}" can't be shown to a model: ${hint}.`,
    );
  }
  return {
    json: standard.jsonSchema.input({ target: "draft-07" }),
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

function ofAi(validate: NonNullable<AiSchema["validate"]>): InputSchema["check"] {
  return async (value) => {
    const result = await validate(value);
    return result.success ? { ok: true, value: result.value } : { ok: false, problem: result.error.message };
  };
}

/** The validator for plain JSON Schemas is loaded with the first call that needs it: it is large, and most tools do without. */
function ofJson(json: JsonSchema): InputSchema["check"] {
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
