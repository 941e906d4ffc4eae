import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import * as z from "zod/mini";
import { jsonSchemaOf } from "../../src/tools/control/json-schema.ts";

const checksOf = <Least, Most>(least: (limit: number) => Least, most: (limit: number) => Most) =>
  fc
    .array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 4 })
    .map((limits) => limits.map(([isLeast, value]) => (isLeast ? least(value) : most(value))));
const lengths = checksOf(z.minLength, z.maxLength);
const bounds = checksOf(z.gte, z.lte);
const names = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 8 });

const { schema } = fc.letrec<{ schema: z.ZodMiniType }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    lengths.map((checks) => z.string().check(...checks)),
    bounds.map((checks) => z.int().check(...checks)),
    bounds.map((checks) => z.number().check(...checks)),
    fc.constant(z.boolean()),
    fc.uniqueArray(names, { minLength: 1, maxLength: 3 }).map((values) => z.enum(values as [string])),
    fc.tuple(tie("schema"), lengths).map(([element, checks]) => z.array(element).check(...checks)),
    fc
      .dictionary(names, fc.tuple(tie("schema"), fc.boolean()), { maxKeys: 4 })
      .map((fields) =>
        z.object(
          Object.fromEntries(
            Object.entries(fields).map(([key, [field, isOptional]]) => [key, isOptional ? z.optional(field) : field]),
          ),
        ),
      ),
  ),
}));

test("the JSON Schema of a control tool is, letter for letter, the one that zod writes", () => {
  fc.assert(
    fc.property(schema, (one) => {
      const byZod = z.toJSONSchema(one, { target: "draft-7", io: "input" });
      assert.equal(JSON.stringify(jsonSchemaOf(one)), JSON.stringify(byZod));
    }),
    { numRuns: 2_000 },
  );
});

test("a kind of schema that it does not know is an error, not a tool without arguments", () => {
  assert.throws(() => jsonSchemaOf(z.object({ when: z.union([z.string(), z.number()]) })), /does not support/);
});
