import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isForLines } from "../../src/terminal/features.ts";
import { inherited, Place } from "../cli.ts";
import { MAIN } from "../programs.ts";
import { PseudoTerminal } from "../terminal/pseudo-terminal.ts";

test("cinch --plain is a conversation on pipes, after the question whether to trust the folder", async () => {
  await using place = new Place();
  writeFileSync(join(place.folder, "AGENTS.md"), "Be brief.\n");
  const running = place.start(["--plain"], { env: { LANG: "C.UTF-8" } });
  await running.prints(
    /has AGENTS\.md\.\n[^]*\n1 no, do not read it \(n\)\n2 yes, and remember it \(y\)\n1 to 2: $/,
    "stdout",
  );
  running.child.stdin.write("2\n");
  await running.prints(/^build> $/m, "stdout");
  running.child.stdin.write("What is 2 + 3?\n");
  await running.prints(/^You {2}What is 2 \+ 3\?\n[^]*^build> $/m, "stdout");
  running.child.stdin.end();
  const { code, stdout, stderr } = await running.finished;
  assert.equal(code, 0);
  assert.equal(stderr, "");
  assert.match(stdout, /\b5\b[^]*To come back: cinch --resume thread_\w+\n$/);
  assert.match(stdout, /^(?:\n|\P{Cc})*$/u);
});

test("--plain --continue goes on with the newest thread", async () => {
  await using place = new Place();
  await place.run(["run", "What is 2 + 3?"]);
  const running = place.start(["--plain", "--continue"]);
  await running.prints(/^Thread: What is 2 \+ 3\?\n[^]*^build> $/m, "stdout");
  running.child.stdin.end();
  assert.equal((await running.finished).code, 0);
});

test("the end of the input at the first question leaves", async () => {
  await using place = new Place();
  writeFileSync(join(place.folder, "AGENTS.md"), "Be brief.\n");
  const { code, stdout } = await place.run(["--plain"]);
  assert.equal(code, 130);
  assert.doesNotMatch(stdout, /build>/);
});

test("cinch in a dumb terminal greets a user without a key with numbered choices", async () => {
  await using place = new Place();
  using terminal = new PseudoTerminal({
    ...inherited(),
    TERM: "dumb",
    HOME: place.home,
    NODE: process.execPath,
    MAIN,
    FOLDER: place.folder,
  });
  await terminal.run("cd \"$FOLDER\"; echo se''t", /^set$/m);
  await terminal.run(
    '"$NODE" "$MAIN"',
    /no API key: the offline\s+model answers\n1 Take the two-minute tour \(t\)\n2 Add a key \(k\)\n3 Start \(s\)\n1 to 3: ?$/,
  );
  terminal.type("k\r");
  await terminal.until(/Whose key\?\n1 \w+[^]*: ?$/);
  terminal.type("\r");
  await terminal.until(/\(s\)\n1 to 3: ?$/);
  terminal.type("3\r");
  await terminal.until(/build> ?$/);
});

test("a dumb terminal and ACCESSIBLE are for lines", () => {
  assert.equal(isForLines({ TERM: "dumb" }), true);
  assert.equal(isForLines({ TERM: "xterm", ACCESSIBLE: "1" }), true);
  assert.equal(isForLines({ TERM: "xterm", ACCESSIBLE: "" }), false);
  assert.equal(isForLines({ TERM: "xterm" }), false);
});
