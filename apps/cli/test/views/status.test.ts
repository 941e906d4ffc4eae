import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState } from "@cinch/core";
import { statusLine } from "../../src/views/status.ts";
import { plainText } from "../text/shown.ts";
import { contextOf } from "./shown-views.ts";

const shown = (fields: object, options = {}): string =>
  plainText(statusLine({ ...newDisplayState("t"), modeId: "build", ...fields }, options, contextOf(80)));

test("a new thread has spent nothing of its budget; a model without a price has spent an unknown part", () => {
  assert.equal(shown({}), "build");
  assert.equal(shown({}, { budget: 2 }), "build · $0.00/2");
  const tokenUsage = { ...newDisplayState("t").tokenUsage, inputTokens: 10 };
  assert.equal(shown({ tokenUsage }, { budget: 2 }), "build · 10 tok · $?/2");
});
