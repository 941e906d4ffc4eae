import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SAME_KEY_MS } from "../../src/run/shutdown.ts";
import { LineFolder } from "./line-process.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

test("in a dumb terminal the whole conversation has no control character but line ends", async () => {
  using place = new LineFolder();
  const terminal = await place.startInTerminal("asks");
  terminal.type("go\r");
  await terminal.until(/1 approve \(y\)[^]*1 to 4: ?$/);
  terminal.type("1\r");
  await terminal.until(/The command is done\.\n[^]*build> ?$/);
  terminal.type(CTRL_D);
  await terminal.until(/To come back: cinch --resume thread_\w+\n[^]*shell\$ ?$/);
  assert.match(terminal.bytes.join(""), /^(?:\r*\n|\r|[^\p{Cc}])*$/u);
});

test("a line that was begun in the terminal before the question was shown never answers it", async () => {
  using place = new LineFolder();
  const terminal = await place.startInTerminal("asks late");
  terminal.type("go\r");
  await terminal.until(/You {2}go/);
  terminal.type("y");
  await terminal.until(/^y$/m);
  place.openGate();
  await terminal.until(/1 to 4: ?$/);
  terminal.type("\r");
  await terminal.until(/"y" was typed before this question was shown/);
  assert.equal(place.has("proof.txt"), false);
  await terminal.until(/1 to 4: ?$/);
  terminal.type("y\r");
  await terminal.until(/The command is done\./);
});

test("Ctrl-D in the middle of a turn leaves, and the turn goes on when the thread is opened again", async () => {
  using place = new LineFolder();
  const terminal = await place.startInTerminal("streams");
  terminal.type("hello there\r");
  await terminal.until(/^The first paragraph\.$/m);
  terminal.type(CTRL_D);
  await terminal.until(
    /The turn is kept: it goes on when the thread is opened again\.\nTo come back: cinch --resume[^]*shell\$ ?$/,
  );
  place.openGate();
  const again = place.start("streams", { args: ["--continue"] });
  await again.until(/^Thread: hello there\n(?:.*\n)*?You {2}hello there\n/m);
  await again.until(/^The second one is long\.\n/m);
});

test("Ctrl-C stops the turn, and twice it leaves", async () => {
  using place = new LineFolder();
  const terminal = await place.startInTerminal("hangs");
  terminal.type("begin\r");
  await terminal.until(/You {2}begin/);
  terminal.type(CTRL_C);
  await terminal.until(/\^C\nStopping\. Ctrl-C again leaves\.\n[^]*Stopped\.\nbuild> ?$/);
  await sleep(SAME_KEY_MS + 1);
  terminal.type(CTRL_C);
  await terminal.until(/shell\$ ?$/);
});

test("what is hidden is not shown, and the terminal shows the next line again", async () => {
  using place = new LineFolder();
  const terminal = await place.startInTerminal("streams");
  terminal.type("/secret\r");
  await terminal.until(/Secret \(an empty line closes\): ?$/);
  terminal.type("pass\u007fs\r");
  await terminal.until(/length 4[^]*build> ?$/);
  assert.doesNotMatch(terminal.bytes.join(""), /pas/);
  terminal.type("shown");
  await terminal.until(/build> shown$/);
});

test("a paste is one message", async () => {
  using place = new LineFolder();
  const terminal = await place.startInTerminal("hangs");
  terminal.type("two\rthree\rfour\r");
  await terminal.until(/^You {2}two\n *three\n *four$/m);
});
