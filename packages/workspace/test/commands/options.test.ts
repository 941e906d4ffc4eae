import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOptions, parseWords } from "../../src/commands/programs/options.ts";
import { literal } from "../../src/commands/word.ts";

const parse = (list: string, line: string, first?: "first") => {
  const words = line.split(" ").map((word) => literal(word));
  const { operands, sound } = parseWords(words, parseOptions(list.split(" ")), 0, first);
  return sound ? operands.map((at) => words[at]!.text) : "in doubt";
};

test("a word after an option that takes a value is the value, whatever it is", () => {
  assert.deepEqual(parse("v n:", "-n -x a"), ["a"]);
  assert.deepEqual(parse("v n:", "-n -- -v a"), ["a"]);
  assert.deepEqual(parse("v n:", "-vn5 a"), ["a"]);
});

test("a word after an option that may take a value is judged as a value and as a word of its own", () => {
  assert.deepEqual(parse("v n::", "-n 5 a"), ["5", "a"]);
  assert.deepEqual(parse("v n::", "-n -v a"), ["a"]);
  assert.deepEqual(parse("v n::", "-n -x a"), "in doubt");
  assert.deepEqual(parse("v n::", "-n -- -x"), "in doubt");
  assert.deepEqual(parse("v n:: <1", "-n 5 a"), "in doubt");
  assert.deepEqual(parse("v n:: !@", "-n a@b"), "in doubt");
  assert.deepEqual(parse("v name==", "--name --x a"), "in doubt");
});

test("letters after one that may take a value are judged as its value and as letters", () => {
  assert.deepEqual(parse("v n::", "-nv a"), ["a"]);
  assert.deepEqual(parse("v n::", "-nx a"), "in doubt");
  assert.deepEqual(parse("v n::m:", "-nm -x a"), "in doubt");
  assert.deepEqual(parse("v n;", "-nx a"), ["a"]);
  assert.deepEqual(parse("v n;", "-vnx a"), "in doubt");
});

test("behind the first letter of a word, an equals sign, a colon or a dot begins a value", () => {
  assert.deepEqual(parse("v n::", "-n=x a"), ["a"]);
  assert.deepEqual(parse("v n::", "-n. a"), ["a"]);
  assert.deepEqual(parse("v n::", "-n:x a"), ["a"]);
  assert.deepEqual(parse("v n::", "-vn=x a"), "in doubt");
  assert.deepEqual(parse("v n::", "-v=x a"), "in doubt");
  // npm reads it as two words.
  assert.deepEqual(parse("v n::", "-n=-x a"), "in doubt");
  assert.deepEqual(parse("v n::", "-n= a"), "in doubt");
  assert.deepEqual(parse("v n:: !^@", "-n=@x a"), "in doubt");
  assert.deepEqual(parse("v n::", "-n=x a", "first"), "in doubt");
});

test("where a command begins behind an option that may take a value, both beginnings are in doubt", () => {
  assert.deepEqual(parse("v n:", "-v -n 5 a b", "first"), ["a"]);
  assert.deepEqual(parse("v n::", "-v -n 5 a b", "first"), "in doubt");
  assert.deepEqual(parse("v n::", "-n a", "first"), "in doubt");
  assert.deepEqual(parse("v n::", "-n5 a b", "first"), ["a"]);
});

test("where long names have one dash, a letter that takes a value may have digits behind it", () => {
  assert.deepEqual(parse("v l: name ~", "-l64 a"), ["a"]);
  assert.deepEqual(parse("v l: name ~", "-l -v a"), ["a"]);
  assert.deepEqual(parse("v l: name ~", "-lv a"), "in doubt");
  assert.deepEqual(parse("v l: name ~", "-l6v a"), "in doubt");
  assert.deepEqual(parse("v l:: name ~", "-l64 a"), "in doubt");
  assert.deepEqual(parse("v l: name ~", "-v64 a"), "in doubt");
});

test("two dashes end the options, unless the program reads options behind them", () => {
  assert.deepEqual(parse("v", "-v -- -x"), ["-x"]);
  assert.deepEqual(parse("v --", "-v -- -x"), "in doubt");
  assert.deepEqual(parse("v --", "-- -v a"), ["a"]);
});
