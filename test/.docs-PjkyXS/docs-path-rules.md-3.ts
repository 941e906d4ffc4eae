import assert from "node:assert/strict";
import { narrower, pathRules, policyFor } from "@cinch/workspace";

const parent = pathRules([{ operations: ["write"], paths: ["/repo/**"], mode: "ask" }]);
const child = pathRules([
  { operations: ["write"], paths: ["/repo/docs/**"], mode: "deny" },
  { operations: ["write"], paths: ["/**"], mode: "allow" },
]);
const both = narrower(parent, child);
assert.equal(policyFor(both, "write", "/repo/docs/a.md"), "deny");
assert.equal(policyFor(both, "write", "/repo/src/a.ts"), "ask");
assert.equal(policyFor(both, "write", "/elsewhere"), undefined); // the parent's own permissions decide
