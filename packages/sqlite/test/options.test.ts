import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";

test("an invalid option is refused at once, with the valid form", () => {
  const wrong: [unknown, RegExp][] = [
    ["x.db", /takes an object: sqliteStore\(\{ path: "x\.db" \}\)/],
    [undefined, /takes an object with the keys path/],
    [null, /takes an object/],
    [{}, /needs the path of a file: sqliteStore\(\{ path: /],
    [{ path: "" }, /needs the path/],
    [{ path: 5 }, /needs the path/],
    [{ path: "a\0b" }, /needs the path/],
    [{ file: "x.db" }, /Unknown key "file"/],
    [{ path: "x.db", busyMS: 5 }, /Unknown key "busyMS": did you mean "busyMs"\?/],
    [{ path: "x.db", busyMs: "5" }, /milliseconds as busyMs/],
    [{ path: "x.db", periodMs: -1 }, /milliseconds as periodMs/],
    [{ path: "x.db", renewMs: NaN }, /milliseconds as renewMs/],
  ];
  for (const [options, says] of wrong)
    assert.throws(
      () => sqliteStore(options as never),
      (error: unknown) => error instanceof CinchError && error.code === "INVALID_CONFIG" && says.test(error.message),
      String(says),
    );
});
