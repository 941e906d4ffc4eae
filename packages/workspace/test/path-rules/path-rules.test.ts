import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { CinchError, type Policy } from "@cinch/core";
import { canHide } from "../../src/path-rules/path-rules.ts";
import { narrower, pathRules, policyFor, type PathRule } from "@cinch/workspace";

const rule = (mode: Policy, paths: string[], operations: PathRule["operations"] = ["read", "write"]): PathRule => ({
  operations,
  paths,
  mode,
});

describe("path rules", () => {
  test("the first matching rule decides, and without one there is no decision", () => {
    const rules = pathRules([
      rule("allow", ["/repo/docs/**"]),
      rule("deny", ["/repo/**/.env*"], ["write"]),
      rule("ask", ["/repo/**"], ["write"]),
    ]);
    const says = (operation: "read" | "write", path: string) => policyFor(rules, operation, path);
    assert.equal(says("write", "/repo/docs/.env"), "allow");
    assert.equal(says("write", "/repo/.env"), "deny");
    assert.equal(says("write", "/repo/a/b/.env.local"), "deny");
    assert.equal(says("read", "/repo/.env"), undefined);
    assert.equal(says("write", "/repo/src/a.ts"), "ask");
    assert.equal(says("write", "/elsewhere"), undefined);
    assert.equal(says("write", "/repository"), undefined);
  });

  test("a rule for everything in a directory applies to the directory too", () => {
    const rules = pathRules([rule("deny", ["/secret/**"])]);
    assert.deepEqual(
      ["/secret", "/secret/a", "/secret/a/b", "/secrets", "/a/secret"].map((path) => policyFor(rules, "read", path)),
      ["deny", "deny", "deny", undefined, undefined],
    );
  });

  test("a deny ignores case and composition, and an allow does not", () => {
    const rules = pathRules([rule("allow", ["/secret/public/**"]), rule("deny", ["/secret/**", "/caf\u00e9/**"])]);
    assert.equal(policyFor(rules, "read", "/Secret/x"), "deny");
    assert.equal(policyFor(rules, "read", "/CAFE\u0301/x"), "deny");
    assert.equal(policyFor(rules, "read", "/secret/public/x"), "allow");
    assert.equal(policyFor(rules, "read", "/secret/PUBLIC/x"), "deny");
  });

  test("an invalid rule is refused with the reason", () => {
    const bad = [
      { operations: ["read"], paths: ["secret/**"], mode: "deny" },
      { operations: ["read"], paths: ["*.pem"], mode: "deny" },
      { operations: ["read"], paths: [], mode: "deny" },
      { operations: [], paths: ["/a"], mode: "deny" },
      { operations: ["delete"], paths: ["/a"], mode: "deny" },
      { operations: ["read"], paths: ["/a"], mode: "never" },
      { operations: ["read"], paths: ["/a"], mode: "deny", extra: true },
      { operations: ["read"], paths: [`/${"a".repeat(1_000)}`], mode: "deny" },
    ];
    for (const one of bad)
      assert.throws(
        () => pathRules([one as PathRule]),
        (error) => error instanceof CinchError && error.code === "INVALID_CONFIG",
      );
  });

  test("lists leave out files that must not be read, and keep directories that lead to readable ones", () => {
    const rules = pathRules([rule("allow", ["/a/b/**"], ["read"]), rule("deny", ["/**"], ["read"])]);
    assert.deepEqual(
      ["/", "/a", "/a/b", "/a/b/c", "/a/x", "/z"].map((path) => canHide(rules, path)),
      [false, false, false, false, true, true],
    );
    const secret = pathRules([rule("deny", ["/secret/**"], ["read"]), rule("ask", ["/asked/**"])]);
    assert.deepEqual(
      ["/", "/secret", "/secret/a", "/asked"].map((path) => canHide(secret, path)),
      [false, true, true, false],
    );
  });
});

describe("the rules of a subagent", () => {
  test("can only restrict those of its parent", () => {
    const parent = pathRules([rule("deny", ["/secret/**"]), rule("ask", ["/repo/**"])]);
    const child = pathRules([rule("allow", ["/**"]), rule("deny", ["/repo/x"])]);
    const both = narrower(parent, child);
    assert.deepEqual(
      ["/secret/a", "/repo/a", "/elsewhere"].map((path) => policyFor(both, "write", path)),
      ["deny", "ask", undefined],
    );
    const strict = narrower(parent, pathRules([rule("deny", ["/repo/**"]), rule("ask", ["/elsewhere"])]));
    assert.deepEqual(
      ["/secret/a", "/repo/a", "/elsewhere"].map((path) => policyFor(strict, "write", path)),
      ["deny", "deny", "ask"],
    );
    assert.equal(canHide(narrower(parent, child), "/secret"), true);
  });

  test("never permit what the parent's rules do not, at any depth", () => {
    const path = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }).map((names) => `/${names.join("/")}`);
    const pattern = fc.oneof(
      path,
      path.map((one) => `${one === "/" ? "" : one}/**`),
      path.map((one) => `${one === "/" ? "" : one}/*`),
      fc.constant("**/a"),
    );
    const one = fc.record({
      operations: fc.constantFrom<PathRule["operations"]>(["read"], ["write"], ["read", "write"]),
      paths: fc.array(pattern, { minLength: 1, maxLength: 2 }),
      mode: fc.constantFrom<Policy>("allow", "ask", "deny"),
    });
    const strictness = (policy: Policy | undefined) => ["allow", undefined, "ask", "deny"].indexOf(policy);
    fc.assert(
      fc.property(fc.array(fc.array(one, { maxLength: 4 }), { minLength: 2, maxLength: 4 }), path, (lists, asked) => {
        const compiled = lists.map(pathRules);
        for (const operation of ["read", "write"] as const) {
          let rules = compiled[0]!;
          for (const child of compiled.slice(1)) {
            const before = policyFor(rules, operation, asked);
            const own = policyFor(child, operation, asked);
            rules = narrower(rules, child);
            const after = policyFor(rules, operation, asked);
            assert.ok(strictness(after) >= strictness(before));
            if (own === "deny" || own === "ask") assert.ok(strictness(after) >= strictness(own));
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
