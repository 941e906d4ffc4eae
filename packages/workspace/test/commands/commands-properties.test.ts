import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { commandMatcher } from "@cinch/workspace";
import * as fc from "fast-check";

const NAMES = ["git", "ls", "make", "npm"];

/** Fragments of shell syntax, mostly invalid in combination. */
const PIECES = (
  "git|ls|push| | | |\n|;|&|&&|||(|)|{ |; }|$(|`|'|\"|\\|\\\n|$'|#| #|<<EOF\n|\nEOF\n|<<'E'\n|>|<|&>|2>&1|<<<|<(|$x|${x:-|x=|$((|((|))|" +
  "[[ | ]]|[ | ]|if |; then |fi|while |; do |done|for i in |case a in |a) |;;|esac|! |{a,b}|*|~|time |f() |eval |env |xargs |sh -c |\0|\u200B"
)
  .split("|")
  .map((piece) => (piece === "" ? "|" : piece));
const noise = fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }).map((pieces) => pieces.join(""));

const plain = fc.constantFrom("a", "-x", "--y=z", "'a b'", '"c d"', "e\\ f", '"#"', "'$(x)'", '"$HOME"', "$'t'");
const simple = fc
  .tuple(fc.constantFrom(...NAMES), fc.array(plain, { maxLength: 3 }))
  .map(([name, args]) => ({ line: [name, ...args].join(" "), names: [name] }));

interface Line {
  line: string;
  names: string[];
}
const around = (before: string, after: string) => (inner: Line) => ({
  ...inner,
  line: `${before}${inner.line}${after}`,
});
const both =
  (between: string) =>
  ([a, b]: [Line, Line]) => ({
    line: `${a.line}${between}${b.line}`,
    names: [...a.names, ...b.names],
  });
const quoted = (line: string) => `'${line.replaceAll("'", String.raw`'\''`)}'`;

/** Commands at every position at which a shell accepts one. All of them are run. */
const { nested } = fc.letrec<{ nested: Line }>((tie) => {
  const inner = tie("nested") as fc.Arbitrary<Line>;
  const pairs = [" && ", "; ", "\n", " | ", " & "].map((between) => fc.tuple(inner, inner).map(both(between)));
  const wraps: [string, string][] = [
    ["( ", " )"],
    ["{ ", "; }"],
    ["if ", "; then :; fi"],
    ["if true; then ", "; fi"],
    ["if false; then :; else ", "; fi"],
    ["for i in 1; do ", "; done"],
    ["case a in a|b) ", ";; esac"],
    ["f() { ", "; }; f"],
    ["! ( ", " )"],
    ["echo $( ", " )"],
    ['echo "$( ', ' )"'],
    ["x=$( ", " )"],
    ["x=1; : ${y:-$( ", " )}"],
    ["cat <<EOF\n$( ", " )\nEOF\n:"],
    ["true || false; ", " # it's \" done\n:"],
    [": <( ", " )"],
  ];
  return {
    nested: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      simple,
      ...pairs,
      ...wraps.map(([before, after]) => inner.map(around(before, after))),
      inner.map(({ line, names }) => ({ line: `bash -c ${quoted(line)}`, names })),
      inner.map(({ line, names }) => ({ line: `eval ${quoted(line)}`, names })),
      simple.map(around("env X=1 ", "")),
      simple.map(around("timeout 5 ", "")),
      simple.map(around("echo | xargs ", "")),
    ),
  };
});

test("the matcher throws for no input, and the pattern that it suggests covers the line", async () => {
  const { matches, suggest } = await commandMatcher();
  const line = fc.oneof(
    noise,
    nested.map((one) => one.line),
    fc.string({ unit: "binary", maxLength: 200 }),
  );
  fc.assert(
    fc.property(line, fc.oneof(noise, fc.string()), (command, pattern) => {
      assert.ok(["all", "some", "none"].includes(matches(pattern, command)));
      const suggested = suggest(command);
      if (suggested === undefined) return;
      assert.equal(matches(suggested, command), "all");
      assert.doesNotMatch(suggested, /^\*/);
    }),
    { numRuns: 500 },
  );
});

/** One of the ways to quote a word. */
const spelled = (word: string) =>
  fc.constantFrom(
    word,
    `'${word}'`,
    `"${word}"`,
    `\\${word}`,
    `${word[0]}"${word.slice(1)}"`,
    `${word[0]}''${word.slice(1)}`,
  );
const push = fc.tuple(spelled("git"), spelled("push")).map((words) => words.join(" "));

/** Each runs the line that it gets as an argument. */
const DISGUISES: ((line: string) => string)[] = [
  (line) => `bash -c ${quoted(line)}`,
  (line) => `bash -ec ${quoted(line)} _ x`,
  (line) => `env X=1 sh -c ${quoted(line)}`,
  (line) => `choom -n 0 -- bash -c ${quoted(line)}`,
  (line) => `timeout 5 nice bash -c ${quoted(line)}`,
  (line) => `eval ${quoted(line)}`,
  (line) => `x=${quoted(line)}; eval "$x"`,
  (line) => `X=${quoted(line)} bash -c 'eval "$X"'`,
  (line) => `bash <<< ${quoted(line)}`,
  (line) => `printf '%s\\n' ${quoted(line)} | sh`,
  (line) => `printf '%s\\n' ${quoted(line)} > f; bash f`,
  (line) => `. /dev/../dev/stdin <<< ${quoted(line)}`,
  (line) => `trap ${quoted(line)} EXIT`,
  (line) => `f() { ${line}⏎}; f`.replace("⏎", "\n"),
  (line) => `: "$(${line}⏎)"`.replace("⏎", "\n"),
  (line) => `[[ ${quoted(`a[$(${line}\n)]`)} -eq 0 ]]`,
  (line) => `printf -v ${quoted(`a[$(${line}\n)]`)} x`,
  (line) => `mapfile -c 1 -C ${quoted(`${line} #`)} x <<< y`,
  (line) => `compgen -W ${quoted(`$(${line}\n)`)}`,
  (line) => `make -s --eval=${quoted("all:;@$(value X)")} X=${quoted(`eval ${quoted(line)}`)}`,
  (line) => `python3 -m timeit -n1 -r1 -s 'import os' ${quoted(`os.system(${JSON.stringify(line)})`)}`,
  (line) => `xargs -I{} bash -c ${quoted(line)} <<< x`,
  (line) => `find . -maxdepth 0 -exec bash -c ${quoted(line)} \\;`,
];
const disguised = fc
  .tuple(push, fc.array(fc.constantFrom(...DISGUISES), { minLength: 1, maxLength: 3 }))
  .map(([line, layers]) => layers.reduce((inner, layer) => layer(inner), line));

test("a deny matches a command in any number of wrappers, and no allow of a wrapper covers it", async () => {
  const { matches, suggest } = await commandMatcher();
  fc.assert(
    fc.property(disguised, (line) => {
      assert.notEqual(matches("git push *", line), "none");
      for (const seen of ["bash *", "env *", "printf *", "make *", "python3 *", "xargs *", "find *"])
        assert.notEqual(matches(seen, line), "all", seen);
      assert.doesNotMatch(suggest(line) ?? "", /\*$/);
    }),
    { numRuns: 500 },
  );
});

test("a deny matches a command at any position", async () => {
  const { matches } = await commandMatcher();
  fc.assert(
    fc.property(nested, ({ line, names }) => {
      for (const name of names) assert.notEqual(matches(`${name} *`, line), "none", name);
    }),
    { numRuns: 500 },
  );
});

test("an allow covers a line only if every command in it fits", async () => {
  const { matches } = await commandMatcher();
  fc.assert(
    fc.property(nested, fc.constantFrom(...NAMES), ({ line, names }, allowed) => {
      if (matches(`${allowed} *`, line) === "all") assert.deepEqual(new Set(names), new Set([allowed]));
    }),
    { numRuns: 500 },
  );
});

const SHELLS = ["/bin/bash", "/bin/dash"].filter((shell) => existsSync(shell));

test("the matcher finds every command that a real shell runs, and an allowed line runs no other", async (t) => {
  if (SHELLS.length === 0) return t.skip("no shell here");
  const { matches } = await commandMatcher();
  const bin = await mkdtemp(join(tmpdir(), "cinch-bin-"));
  t.after(() => rm(bin, { recursive: true, force: true, maxRetries: 9 }));
  for (const name of NAMES) {
    await writeFile(join(bin, name), '#!/bin/sh\nprintf "%s\\n" "${0##*/}" >> "$LOG"\n');
    await chmod(join(bin, name), 0o755);
  }
  const run = async (shell: string, line: string) => {
    const cwd = await mkdtemp(join(bin, "run-"));
    const log = `${cwd}.log`;
    await writeFile(log, "");
    const env = { PATH: `${bin}:/usr/bin:/bin`, LOG: log };
    spawnSync(shell, ["-c", line], { cwd, env, input: "", timeout: 60_000, killSignal: "SIGKILL" });
    return { names: (await readFile(log, "utf8")).split("\n").filter(Boolean), files: await readdir(cwd) };
  };
  const pushes = fc.sample(disguised, { numRuns: 20, seed: 1 });
  const ran = [];
  for (const line of pushes) ran.push((await run("/bin/bash", line)).names.includes("git"));
  // The others need a program that is not installed, or lose quotes between two languages.
  if (existsSync("/bin/bash")) assert.ok(ran.filter(Boolean).length > pushes.length / 2, ran.join(" "));
  const lines = fc.sample(
    fc.oneof(
      nested.map((one) => one.line),
      noise,
    ),
    { numRuns: 40, seed: 1 },
  );
  for (const line of lines.filter((one) => matches("no-such-program *", one) === "none" && !one.includes("\0"))) {
    for (const shell of SHELLS) {
      const { names, files } = await run(shell, line);
      for (const name of names) assert.notEqual(matches(`${name} *`, line), "none", line);
      for (const name of NAMES.filter((one) => matches(`${one} *`, line) === "all"))
        assert.deepEqual({ files, others: names.filter((one) => one !== name) }, { files: [], others: [] }, line);
    }
  }
});
