import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCost, formatCount, formatDuration, formatElapsed } from "../../src/views/format.ts";

test("numbers are short: three digits, and a unit", () => {
  assert.deepEqual([0, 999, 1_000, 41_234, 999_499, 999_500, 1_234_567, 9_949_999, 9_950_000].map(formatCount), [
    "0",
    "999",
    "1k",
    "41k",
    "999k",
    "1.0M",
    "1.2M",
    "9.9M",
    "10M",
  ]);
});

test("durations have one unit", () => {
  assert.deepEqual([-5, 20, 130, 940, 960, 1_400, 14_400, 59_400, 59_900, 125_000, 3_700_000].map(formatDuration), [
    "0.0 s",
    "0.0 s",
    "0.1 s",
    "0.9 s",
    "1 s",
    "1 s",
    "14 s",
    "59 s",
    "1 min",
    "2 min",
    "1 h",
  ]);
});

test("a time that still runs shows full units, so that it never goes back", () => {
  assert.deepEqual([-1, 999, 1_999, 59_999, 119_999, 7_199_999].map(formatElapsed), [
    "0 s",
    "0 s",
    "1 s",
    "59 s",
    "1 min",
    "1 h",
  ]);
});

test("a cost that is less than a cent is not nothing", () => {
  assert.deepEqual([0, 0.001, 0.006, 0.12, 12.345, 123.4].map(formatCost), [
    "$0.00",
    "<$0.01",
    "$0.01",
    "$0.12",
    "$12.35",
    "$123",
  ]);
});
