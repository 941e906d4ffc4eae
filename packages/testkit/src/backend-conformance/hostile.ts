import assert from "node:assert/strict";
import { type BackendCheck, rejects } from "./files.ts";

/** With each of these patterns a naive matcher needs years. The limit is far above what a busy machine needs to start ripgrep. */
const LIMIT_MS = 60_000;

async function inTime<T>(work: () => Promise<T>, what: string): Promise<T> {
  const start = performance.now();
  const result = await work();
  const took = performance.now() - start;
  assert.ok(took < LIMIT_MS, `${what} took ${Math.round(took)} ms`);
  return result;
}

const GLOBS = [
  `${"*a".repeat(60)}b`,
  `${"**/a/".repeat(60)}b`,
  `${"**/".repeat(200)}x`,
  `${"{a,b}".repeat(60)}c`,
  `${"{a,".repeat(150)}`,
  `${"{".repeat(400)}${"}".repeat(400)}`,
  `${"{a,{b,".repeat(60)}c${"}}".repeat(60)}d`,
  `${"[".repeat(500)}`,
  `${"[!a]*".repeat(60)}b`,
  `${"?*".repeat(200)}b`,
  `${"*".repeat(900)}b`,
  `+(+(+(a|b)+)+)c`,
  `!(!(!(a)))`,
  `${"(".repeat(300)}a${")+".repeat(300)}`,
];

const EXPRESSIONS = [
  "(a+)+$",
  "(a|a)*b",
  "(a|aa)+$",
  "(.*)*(.*)*x",
  "([a-z]+)*\\d",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "(?:a?){200}a{200}b",
  "(x+x+)+y",
  ".*.*.*.*.*.*=.*",
];

/** Too large for ripgrep, not in its syntax, or impossible to match within a line. */
const REFUSED = [
  "(a{1000}){1000}",
  "((\\w{50}){50}){50}",
  "(",
  "a{2,1}",
  "(?=look)",
  "\\1",
  "[z-a]",
  "(?P<n",
  "\\p{NoSuch}",
  "a\\nb",
];

export function hostile(check: BackendCheck): void {
  check("no glob takes long", async (files) => {
    await files.writeAll({
      [`/${"a".repeat(250)}`]: "x",
      [`/${"a/".repeat(60)}z`]: "x",
      [`/${"b".repeat(100)}/${"ab".repeat(100)}`]: "x",
    });
    for (const pattern of GLOBS) {
      await inTime(() => files.glob(pattern), pattern);
      await inTime(() => files.hits("y", { glob: pattern }), pattern);
    }
  });

  check("a pattern that is too long is invalid", async (files) => {
    await files.write("/a", "x");
    await rejects(files.glob("a".repeat(1_001)), "invalid");
    await rejects(files.hits("x", { glob: "a".repeat(1_001) }), "invalid");
    await rejects(files.hits("x".repeat(10_001)), "invalid");
  });

  check("no regular expression takes long", async (files) => {
    await files.write("/text", `${"a".repeat(30_000)}!\n${"x".repeat(30_000)}\n${"ab ".repeat(10_000)}\n`);
    for (const pattern of EXPRESSIONS) await inTime(() => files.hits(pattern, { regex: true }), pattern);
  });

  check("a malformed or too large regular expression is invalid at once", async (files) => {
    await files.write("/text", "some text");
    for (const pattern of REFUSED)
      await inTime(() => rejects(files.hits(pattern, { regex: true }), "invalid"), pattern);
  });

  check("a pattern that no line can contain is invalid", async (files) => {
    await files.write("/text", "some\ntext");
    for (const pattern of ["some\ntext", "a\r\nb", "nul\0", "\ud800"])
      for (const regex of [false, true]) await rejects(files.hits(pattern, { regex }), "invalid");
  });

  check("a pattern is never taken for a command-line option", async (files) => {
    await files.writeAll({ "/-e": "--files", "/--pre=id": "-f/etc/passwd", "/-": "--version" });
    assert.deepEqual(await files.hits("--files"), ["/-e:1:--files"]);
    assert.deepEqual(await files.hits("-f/etc/passwd"), ["/--pre=id:1:-f/etc/passwd"]);
    assert.deepEqual(await files.hits("--version", { regex: true }), ["/-:1:--version"]);
    assert.deepEqual(await files.hits("--ver", { regex: true, path: "/-" }), ["/-:1:--version"]);
    assert.deepEqual(await files.glob("-*"), ["/-", "/--pre=id", "/-e"]);
  });
}
