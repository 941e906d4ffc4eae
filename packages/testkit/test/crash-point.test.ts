import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError } from "@cinch/core";
import { crashPoints, crashWhenEmitted } from "@cinch/testkit";

const session = { subscribe: () => () => undefined };

test("an unknown crash point is refused, with the list of positions and events", () => {
  for (const crashAt of [
    "foo:bar",
    "tool_end",
    "tool_end:within",
    "foo:after",
    "tool_end:after:0",
    "tool_end:after:1:2",
  ])
    assert.throws(
      () => crashWhenEmitted(session, crashAt),
      (error: unknown) =>
        error instanceof CinchError &&
        error.code === "INVALID_CONFIG" &&
        error.message.startsWith(`CRASH_AT=${crashAt} is not a crash point`) &&
        /before, inside, after, emitted.*tool_start.*tool_end/s.test(error.message),
      crashAt,
    );
});

test("every crash point of the list is accepted", () => {
  for (const crashAt of crashPoints()) crashWhenEmitted(session, crashAt);
});
