import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { glob } from "../../src/glob/glob.ts";
import { anyGlob, below, literalStart, spelledOut } from "../../src/glob/index.ts";

const fits = (pattern: string, path: string) => glob(pattern).matches(path);

/** For patterns without brackets, with "**" for whole names only. */
function expression(pattern: string): RegExp {
  const meaning: Record<string, string> = { "**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]", ".": String.raw`\.` };
  const braces: Record<string, string> = { "{": "(?:", ",": "|", "}": ")" };
  return new RegExp(`^${pattern.replace(/\*\*\/|[*?.{,}]/g, (sign) => meaning[sign] ?? braces[sign]!)}$`);
}

describe("a glob", () => {
  const yes: [pattern: string, path: string][] = [
    ["/secret/**", "/secret/a/b"],
    ["/secret/", "/secret/a"],
    ["/repo/**/.env*", "/repo/.env"],
    ["/repo/**/.env*", "/repo/a/b/.env.local"],
    ["**/.env", "/.env"],
    ["**", "a/b/c"],
    ["/**", "/"],
    ["**.ts", "a/b/c.ts"],
    ["a/**/b", "a/b"],
    ["a/**/b", "a/x/y/b"],
    ["a?c", "abc"],
    ["?", "😀"],
    ["[😀-😂]", "😁"],
    ["{a,b/c}", "b/c"],
    ["{a,}b", "b"],
    ["{a,{b,c}d}e", "cde"],
    ["x{a,b}y", "xby"],
    ["{id}", "{id}"],
    ["a{b", "a{b"],
    ["a[", "a["],
    ["[]a]", "]"],
    ["[!]a]", "b"],
    ["[[...slug]]", "[[...slug]]"],
    ["(a|b)", "(a|b)"],
    ["\\*", "*"],
    ["\\{a,b\\}", "{a,b}"],
    ["a\\", "a\\"],
  ];
  for (const [pattern, path] of yes) test(`${pattern} fits ${path}`, () => assert.ok(fits(pattern, path)));

  const no: [pattern: string, path: string][] = [
    ["/secret/**", "/secret"],
    ["/secret/**", "/secrets"],
    ["*/**", "a"],
    ["/secret/**", "/a/secret/b"],
    ["*", "a/b"],
    ["*.ts", "a/b.ts"],
    ["a?c", "a/c"],
    ["[!a]", "/"],
    ["[a-z]", "A"],
    ["a/*", "a"],
    ["a/*", "a/b/c"],
    ["\\*", "a"],
    ["!a", "b"],
    ["", "a"],
  ];
  for (const [pattern, path] of no) test(`${pattern} does not fit ${path}`, () => assert.ok(!fits(pattern, path)));

  test("with `itself`, a pattern for everything in a directory also matches the directory", () => {
    const rule = (pattern: string) => glob(pattern, { itself: true });
    assert.ok(rule("/secret/**").matches("/secret") && rule("/secret/").matches("/secret") && rule("/**").matches("/"));
    assert.ok(!rule("/secret/*").matches("/secret") && !rule("/secret/**").matches("/secrets"));
  });

  test("case and composition are ignored only with `ignoreCase`", () => {
    assert.ok(!fits("/Secret/**", "/secret/a"));
    assert.ok(glob("/Secret/**", { ignoreCase: true }).matches("/sECRET/A"));
    assert.ok(glob("/caf\u00e9", { ignoreCase: true }).matches("/CAFE\u0301"));
  });

  test("its result for a path does not depend on earlier paths", () => {
    const name = fc.constantFrom("a", "b", "ab", "ä", "😀", ".env", "x.pem", "A");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join("/")}`);
    const patterns = ["**/.env*", "/a/**", "**/*.pem", "*/b/?", "{a,b}/**/[aä]", "**/a/**/b", "[!a]*", "**"];
    const one = fc.property(
      fc.constantFrom(...patterns),
      fc.array(path),
      fc.boolean(),
      (pattern, paths, ignoreCase) => {
        const used = glob(pattern, { ignoreCase });
        for (const each of paths) {
          const fresh = glob(pattern, { ignoreCase });
          assert.equal(used.matches(each), fresh.matches(each), `${pattern} ${each}`);
          assert.equal(used.reaches(each), fresh.reaches(each), `${pattern} ${each}`);
        }
      },
    );
    fc.assert(one, { numRuns: 300 });
  });

  test("one for several patterns matches what any of them matches", () => {
    const name = fc.constantFrom("a", "b", "ab", "Ä", ".env", "x.pem");
    const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join("/")}`);
    const patterns = ["**/.env*", "/a/**", "**/*.pem", "*/b/?", "{a,b}/**/[aä]", "b/", "**/a/**/b"];
    const options = fc.record({ ignoreCase: fc.boolean(), itself: fc.boolean() });
    const one = fc.property(fc.subarray(patterns), path, options, (some, each, given) => {
      const [all, single] = [anyGlob(some, given), some.map((pattern) => glob(pattern, given))];
      for (const ask of ["matches", "reaches", "covers"] as const)
        assert.equal(
          all[ask](each),
          single.some((every) => every[ask](each)),
          `${ask} ${some.join()} ${each}`,
        );
    });
    fc.assert(one, { numRuns: 500 });
  });

  test("one with more states than are cached still matches correctly", () => {
    const long = glob(`${"**/a/".repeat(60)}b`);
    assert.ok(long.matches(`/${"a/".repeat(60)}b`) && long.matches(`/x/${"a/".repeat(70)}b`));
    assert.ok(!long.matches(`/${"a/".repeat(59)}b`) && !long.matches(`/${"a/".repeat(80)}c`));
    assert.ok(long.matches(`/${"y/a/".repeat(60)}b`) && !long.matches(`/${"a/y/".repeat(60)}b`));
  });

  test("it knows which directories can contain a match", () => {
    const reaches = (pattern: string, path: string) => glob(pattern).reaches(path);
    assert.ok(reaches("src/**/*.ts", "/") && reaches("src/**/*.ts", "/src") && reaches("src/**/*.ts", "/src/a/b"));
    assert.ok(!reaches("src/**/*.ts", "/docs") && !reaches("src/*.ts", "/src/a") && !reaches("/a", "/a"));
    assert.ok(reaches("**/x", "/anything") && reaches("{a,b}/c", "/b") && !reaches("{a,b}/c", "/d"));
  });

  test("it knows which directories it matches as a whole", () => {
    const covers = (pattern: string, path: string) => glob(pattern).covers(path);
    assert.ok(covers("/src/**", "/src") && covers("src/", "/src/a/b") && covers("**", "/") && covers("/**", "/a"));
    assert.ok(covers("{src,docs/**}", "/docs") && covers("a/*/**", "/a/b") && covers(String.raw`\[id\]/**`, "/[id]"));
    assert.ok(
      !covers("/src/**", "/") && !covers("/src/**", "/srcs") && !covers("/src", "/src") && !covers("a/*/**", "/a"),
    );
    // An escaped slash does not begin a name, so these stars count as one.
    assert.ok(!covers(String.raw`a\/**`, "/a") && !covers(String.raw`a\/**`, "/a/b") && !covers("**.ts", "/a"));
  });

  test("it matches what an equivalent regular expression matches", () => {
    const name = fc
      .array(fc.constantFrom("a", "b", ".", "*", "?", "{a,b}", "{.a,b.}"), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(""));
    const whole = name.filter((text) => !text.includes("**") && text !== "." && text !== "..");
    const pattern = fc
      .tuple(fc.array(fc.oneof(whole, fc.constant("**")), { maxLength: 3 }), whole)
      .map(([names, last]) => [...names, last].join("/"));
    const plain = fc
      .array(fc.constantFrom("a", "b", ".a", "ab", "b.a", "aab"), { minLength: 1, maxLength: 5 })
      .map((names) => names.join("/"));
    fc.assert(
      fc.property(pattern, plain, (text, path) => {
        assert.equal(fits(text, path), expression(text).test(path), `${text} ${path}`);
      }),
      { numRuns: 5_000 },
    );
  });

  test("no pattern takes exponential time", () => {
    const begun = performance.now();
    for (const [pattern, path] of [
      [`${"*a".repeat(400)}b`, "a".repeat(4_000)],
      [`${"**/a/".repeat(150)}b`, "a/".repeat(2_000)],
      [`${"{a,b,ab}".repeat(120)}c`, "ab".repeat(2_000)],
      [`${"{a,".repeat(300)}`, "a".repeat(2_000)],
    ] as const)
      assert.ok(!fits(pattern, path));
    assert.ok(performance.now() - begun < 30_000);
  });

  test("a pattern that is too long is refused", () => assert.throws(() => glob("a".repeat(1_001)), RangeError));
});

describe("the parts of a glob", () => {
  test("the names that it begins with", () => {
    assert.deepEqual(literalStart("src/lib/*.ts"), ["src", "lib"]);
    assert.deepEqual(literalStart("/src//a.ts"), ["src", "a.ts"]);
    assert.deepEqual(literalStart("**/a"), []);
    assert.deepEqual(literalStart("app/[id]/page"), ["app"]);
  });

  test("the names that it spells out", () => {
    assert.deepEqual([...spelledOut("**/{node_modules,dist}/*.js")], ["node_modules", "dist"]);
  });

  test("its remainder below some folders", () => {
    assert.deepEqual(below("a/b/*.ts", ["a"]), ["b/*.ts"]);
    assert.deepEqual(below("**/*.ts", ["a", "b"]), ["**/*.ts"]);
    assert.deepEqual(below("**/a/*.ts", ["a"]), ["**/a/*.ts", "*.ts"]);
    assert.deepEqual(below("b/*.ts", ["a"]), []);
    assert.deepEqual(below("{a,b}/c", ["b"]), ["c"]);
    assert.deepEqual(below("{a/x,b}/c", ["b"]), ["**"]);
    assert.deepEqual(below("a", ["a"]), []);
  });
});
