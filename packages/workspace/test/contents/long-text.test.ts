import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { placesOf } from "../../src/contents/long-text.ts";

function naivePlaces(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

test("the places of a text in another are found, however alike the two are", async () => {
  // Few characters, repeated often: beginnings that match are frequent, and so are overlaps.
  const alike = (most: number) =>
    fc
      .array(fc.tuple(fc.constantFrom("a", "b", "ab", "aab"), fc.integer({ min: 1, max: most })), {
        minLength: 1,
        maxLength: 6,
      })
      .map((runs) => runs.map(([piece, count]) => piece.repeat(count)).join(""));
  const around = fc.tuple(fc.array(fc.oneof(alike(200), fc.constant("")), { minLength: 2, maxLength: 5 }), alike(300));
  await fc.assert(
    fc.asyncProperty(around, fc.boolean(), async ([pieces, part], overlaps) => {
      const text = pieces.join(overlaps ? part + part.slice(0, part.length / 2) : part);
      assert.deepEqual(await placesOf(text, part), naivePlaces(text, part));
    }),
    { numRuns: 300 },
  );
});

test("a place is found across the pieces in which a long text is searched", async () => {
  const size = 1024 * 1024;
  for (const part of ["needle", `needle${"-".repeat(400)}`])
    for (const before of [size - part.length, size - 3, size - 1, size, 2 * size - 2]) {
      const text = `${".".repeat(before)}${part}${part}.`;
      assert.deepEqual(await placesOf(text, part), [before, before + part.length]);
    }
});

test("nothing is found of an empty text, nor of one that is longer", async () => {
  assert.deepEqual([await placesOf("abc", ""), await placesOf("ab", "abc"), await placesOf("", "a")], [[], [], []]);
});
