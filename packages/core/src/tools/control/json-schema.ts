import type * as z from "zod/mini";
import type { JsonSchema } from "../schema.ts";

type Definition = z.core.$ZodTypes["_zod"]["def"];
const definitionOf = (schema: z.core.$ZodType): Definition => (schema as unknown as { def: Definition }).def;

/**
 * The JSON Schema of a control tool's arguments, as `z.toJSONSchema` writes it. That function takes milliseconds of a process's first turn,
 * because it knows every schema; this one knows those that control tools use.
 */
export const jsonSchemaOf = (schema: z.core.$ZodType): JsonSchema => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  ...valueSchema(schema),
});

function valueSchema(schema: z.core.$ZodType): JsonSchema {
  const def = definitionOf(schema);
  switch (def.type) {
    case "string":
      return { type: "string", ...limitsOf(def, "minLength", "maxLength") };
    case "number":
      return { type: isInteger(def) ? "integer" : "number", ...limitsOf(def, "minimum", "maximum") };
    case "boolean":
      return { type: "boolean" };
    case "enum":
      return { type: "string", enum: Object.values(def.entries) };
    case "optional":
      return valueSchema(def.innerType);
    case "array":
      return { ...limitsOf(def, "minItems", "maxItems"), type: "array", items: valueSchema(def.element) };
    case "object": {
      const fields = Object.entries(def.shape);
      const required = fields.filter(([, field]) => definitionOf(field).type !== "optional").map(([key]) => key);
      const properties = Object.fromEntries(fields.map(([key, field]) => [key, valueSchema(field)]));
      return { type: "object", properties, ...(required.length > 0 && { required }) };
    }
    default:
      throw unsupported(def.type);
  }
}

/** The tightest limits that the checks of a schema set, under the names that JSON Schema has for them. */
function limitsOf(def: Definition, least: string, most: string): JsonSchema {
  let min = isInteger(def) ? Number.MIN_SAFE_INTEGER : -Infinity;
  let max = isInteger(def) ? Number.MAX_SAFE_INTEGER : Infinity;
  for (const { _zod: check } of def.checks ?? []) {
    const one = check.def as z.core.$ZodChecks["_zod"]["def"];
    if (one.check === "min_length") min = Math.max(min, one.minimum);
    else if (one.check === "max_length") max = Math.min(max, one.maximum);
    else if (one.check === "greater_than" && one.inclusive) min = Math.max(min, Number(one.value));
    else if (one.check === "less_than" && one.inclusive) max = Math.min(max, Number(one.value));
    else throw unsupported(one.check);
  }
  return { ...(min > -Infinity && { [least]: min }), ...(max < Infinity && { [most]: max }) };
}

/** Of a number with a format. That of `z.int()` is the only one that control tools use. */
const isInteger = (def: Definition): boolean => "check" in def;

const unsupported = (kind: string): Error =>
  new Error(`A control tool uses "${kind}" in its schema, which json-schema.ts does not support. Add a case for it.`);
