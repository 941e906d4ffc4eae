import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "../src/args.ts";
import { UsageError } from "../src/exit.ts";

test("commands and options may come in any order", () => {
  const options = { prompt: undefined, thread: { kind: "new" }, model: undefined, db: ".cinch/cinch.db", json: false };
  assert.deepEqual(commandOf([]), { kind: "demo" });
  assert.deepEqual(commandOf(["-h"]), { kind: "help" });
  assert.deepEqual(commandOf(["run", "--version"]), { kind: "version" });
  assert.deepEqual(commandOf(["run"]), { kind: "run", options });
  assert.deepEqual(commandOf(["--json", "run", "hello", "there", "--db=x.db"]), {
    kind: "run",
    options: { ...options, prompt: "hello there", json: true, db: "x.db" },
  });
  assert.deepEqual(commandOf(["run", "--continue", "-"]), {
    kind: "run",
    options: { ...options, prompt: "-", thread: { kind: "newest" } },
  });
  assert.deepEqual(commandOf(["run", "--thread", "t", "--model", "offline", "--", "-1 + 2"]), {
    kind: "run",
    options: { ...options, prompt: "-1 + 2", thread: { kind: "id", id: "t" }, model: "offline" },
  });
});

test("a wrong command line is refused, with the reason", () => {
  const cases: [string[], RegExp][] = [
    [["run", "--bogus"], /^There is no option "bogus"\.$/],
    [["run", "--continu", "hi"], /^There is no option "continu"\. Perhaps you meant: --continue$/],
    [["run", "--thread"], /'--thread <value>' argument missing/],
    [["run", "--json=yes"], /does not take an argument/],
    [["run", "--thread", "a", "--continue", "hi"], /either --thread or --continue/],
    [["run", "--db", " ", "hi"], /--db is empty/],
    [["run", "  "], /prompt is empty/],
    [["hello"], /no command "hello".*cinch run "hello"/],
    [["--json"], /command is missing/],
  ];
  for (const [args, message] of cases) {
    assert.throws(
      () => commandOf(args),
      (error) => error instanceof UsageError && message.test(error.message),
      args.join(" "),
    );
  }
});
