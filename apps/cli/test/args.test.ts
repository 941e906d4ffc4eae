import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "../src/args.ts";
import { COMMANDS } from "../src/command-table.ts";
import { UsageError } from "../src/exit.ts";

const run = {
  prompt: undefined,
  stdin: false,
  thread: { kind: "new" },
  json: false,
  trust: false,
  flags: {},
};

test("commands and options may come in any order", () => {
  assert.deepEqual(commandOf(["-h"]), { kind: "help", topic: undefined });
  assert.deepEqual(commandOf(["run", "--version"]), { kind: "version" });
  assert.deepEqual(commandOf(["run"]), { kind: "run", options: run });
  assert.deepEqual(commandOf(["--json", "run", "hello", "there", "--db=x.db"]), {
    kind: "run",
    options: { ...run, prompt: "hello there", json: true, flags: { db: "x.db" } },
  });
  assert.deepEqual(commandOf(["run", "--continue", "-"]), {
    kind: "run",
    options: { ...run, stdin: true, thread: { kind: "newest" } },
  });
  assert.deepEqual(commandOf(["run", "--thread", "t", "--model", "offline", "--", "-1 + 2"]), {
    kind: "run",
    options: { ...run, prompt: "-1 + 2", thread: { kind: "id", id: "t" }, flags: { model: "offline" } },
  });
});

test("the flags of a run stand above every file", () => {
  const args = "run --mode plan --yolo --allow npm --allow git --deny rm --budget 0.5 --trust --resume t hi".split(" ");
  assert.deepEqual(commandOf(args), {
    kind: "run",
    options: {
      ...run,
      prompt: "hi",
      thread: { kind: "id", id: "t" },
      trust: true,
      flags: { mode: "plan", yolo: true, allow: ["npm", "git"], deny: ["rm"], budget: 0.5 },
    },
  });
});

test("without a command there is the terminal app, which can continue a thread or offer a list", () => {
  const options = { thread: { kind: "new" }, plain: false, flags: {} };
  assert.deepEqual(commandOf([]), { kind: "app", options });
  assert.deepEqual(commandOf(["--continue", "--plain"]), {
    kind: "app",
    options: { ...options, thread: { kind: "newest" }, plain: true },
  });
  assert.deepEqual(commandOf(["--resume", "t"]), {
    kind: "app",
    options: { ...options, thread: { kind: "id", id: "t" } },
  });
  const pick = { ...options, thread: { kind: "pick" } };
  assert.deepEqual(commandOf(["--resume"]), { kind: "app", options: pick });
  assert.deepEqual(commandOf(["--resume", "--yolo"]), { kind: "app", options: { ...pick, flags: { yolo: true } } });
});

test("each command for scripts has its options", () => {
  const db = undefined;
  assert.deepEqual(commandOf(["threads", "list", "--query", "red", "--limit", "3", "--json"]), {
    kind: "threads list",
    options: { db, json: true, query: "red", limit: 3 },
  });
  assert.deepEqual(commandOf(["threads"]), commandOf(["threads", "list"]));
  assert.deepEqual(commandOf(["threads", "show", "t"]), {
    kind: "threads show",
    options: { db, json: false, id: "t" },
  });
  assert.deepEqual(commandOf(["threads", "delete", "t", "--yes"]), {
    kind: "threads delete",
    options: { db, id: "t", yes: true },
  });
  assert.deepEqual(commandOf(["threads", "export", "t", "--format", "html", "-o", "t.html"]), {
    kind: "threads export",
    options: { db, id: "t", format: "html", output: "t.html" },
  });
  assert.deepEqual(commandOf(["answer", "3f9a", "no", "--message", "use pnpm"]), {
    kind: "answer",
    options: { id: "3f9a", words: ["no"], message: "use pnpm", json: false, trust: false, flags: {} },
  });
  assert.deepEqual(commandOf(["abort", "t"]), { kind: "abort", options: { db, id: "t" } });
  assert.deepEqual(commandOf(["pending", "--json"]), { kind: "pending", options: { db, json: true } });
  assert.deepEqual(commandOf(["doctor"]), { kind: "doctor", options: { db, json: false } });
  const serve = {
    host: "127.0.0.1",
    port: undefined,
    token: undefined,
    readOnly: false,
    open: false,
    names: [],
    trust: false,
    flags: {},
  };
  assert.deepEqual(commandOf(["serve"]), { kind: "serve", options: serve });
  const given =
    "serve --host [::1] --port 0 --token t --read-only --open --allow-host a --allow-host b --model offline";
  assert.deepEqual(commandOf(given.split(" ")), {
    kind: "serve",
    options: {
      ...serve,
      host: "::1",
      port: 0,
      token: "t",
      readOnly: true,
      open: true,
      names: ["a", "b"],
      flags: { model: "offline" },
    },
  });
  assert.deepEqual(commandOf(["token"]), { kind: "token list", options: { json: false } });
  const ann = { name: "ann", may: "read" };
  assert.deepEqual(commandOf(["token", "add", "ann", "--may", "read"]), { kind: "token add", options: ann });
  assert.deepEqual(commandOf(["token", "revoke", "ann"]), { kind: "token revoke", options: { name: "ann" } });
  assert.deepEqual(commandOf(["completion", "fish"]), { kind: "completion", shell: "fish" });
  assert.deepEqual(commandOf(["complete", "--", "run", "--mo"]), { kind: "complete", words: ["run", "--mo"] });
});

test("every command has help of its own", () => {
  for (const { name } of COMMANDS.filter((one) => one.name !== "" && one.name !== "help" && !one.hidden)) {
    assert.deepEqual(commandOf([...name.split(" "), "--help"]), { kind: "help", topic: name });
    assert.deepEqual(commandOf(["help", ...name.split(" ")]), { kind: "help", topic: name });
  }
  assert.deepEqual(commandOf(["help", "threads"]), { kind: "help", topic: "threads" });
  assert.deepEqual(commandOf(["help"]), { kind: "help", topic: undefined });
});

test("a wrong command line is refused, with the reason", () => {
  const cases: [string[], RegExp][] = [
    [["run", "--bogus"], /^There is no option "bogus"\.$/],
    [["run", "--continu", "hi"], /^There is no option "continu"\. Perhaps you meant: --continue$/],
    [["run", "--modle", "x"], /Perhaps you meant: --model$/],
    [["run", "--thread"], /'--thread <value>' argument missing/],
    [["run", "--json=yes"], /does not take an argument/],
    [["run", "--thread", "a", "--continue", "hi"], /either --thread or --continue/],
    [["run", "--resume", "--continue"], /--resume needs the id of a thread/],
    [["run", "--db", " ", "hi"], /--db is empty/],
    [["run", "--budget", "much", "hi"], /--budget takes dollars.*"much"/],
    [["run", "--plain", "hi"], /^cinch run has no option --plain\. It has --continue, --thread/],
    [["run", "  "], /prompt is empty/],
    [["hello"], /no command "hello".*cinch run "hello"/],
    [["dcotor"], /no command "dcotor"\. Perhaps you meant: cinch doctor\./],
    [["threads", "exprot", "t"], /no command "threads exprot"\. Perhaps you meant: cinch threads export$/],
    [["threads", "show"], /^Which thread\? cinch threads show ID/],
    [["threads", "show", "a", "b"], /does not take "b"/],
    [["threads", "export", "a", "--format", "pdf"], /no format "pdf".*markdown, json and html/],
    [["threads", "list", "--limit", "0"], /--limit takes a number from 1/],
    [["answer"], /cinch pending lists/],
    [["answer", "3f"], /answer is missing: cinch answer 3f yes/],
    [["serve", "--port", "70000"], /--port takes a number up to 65535, and not "70000"/],
    [["serve", "--allow-host", "https://x.org/"], /--allow-host takes the name of a host.*not "https:\/\/x\.org\/"/],
    [["serve", "hello"], /cinch serve does not take "hello"/],
    [["token", "add"], /^Whose token\? cinch token add NAME$/],
    [["token", "add", "ann"], /--may read,talk,approve/],
    [["completion", "tcsh"], /bash, zsh or fish/],
    [["help", "trheads"], /Perhaps you meant: cinch threads/],
    [["--continue", "--resume", "t"], /either --\w+ or --continue/],
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
