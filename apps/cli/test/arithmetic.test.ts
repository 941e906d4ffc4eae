import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ArithmeticError, evaluate } from "../src/arithmetic.ts";

test("expressions are evaluated by the usual rules", () => {
  const cases: [string, number][] = [
    ["3*7", 21],
    ["2 + 3 * 4", 14],
    ["(2 + 3) * 4", 20],
    ["2^3^2", 512],
    ["-2^2", -4],
    ["2 ** -1", 0.5],
    ["10 % 4 - 1", 1],
    ["1e3 / .5", 2000],
    ["6 ÷ 2 × 3", 9],
    ["sqrt(16) + abs(-2)", 6],
    ["round(pi)", 3],
    ["--1", 1],
  ];
  for (const [expression, value] of cases) assert.equal(evaluate(expression), value, expression);
});

test("any other text is refused", () => {
  const deep = `${"(".repeat(200)}1${")".repeat(200)}`;
  const wrong = [
    "",
    "1 +",
    "2 3",
    "(1",
    "1/0",
    "5 % 0",
    "process.exit()",
    "constructor(1)",
    "__proto__",
    "9^9^9",
    deep,
  ];
  for (const expression of wrong) assert.throws(() => evaluate(expression), ArithmeticError, expression);
  fc.assert(
    fc.property(fc.string({ maxLength: 600 }), (text) => {
      try {
        assert.ok(Number.isFinite(evaluate(text)));
      } catch (error) {
        assert.ok(error instanceof ArithmeticError, String(error));
      }
    }),
  );
});
