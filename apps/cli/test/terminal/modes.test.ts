import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inherited } from "../cli.ts";
import { COMPOSER } from "../programs.ts";
import { PseudoTerminal } from "./pseudo-terminal.ts";

const START = '"$NODE" "$PROGRAM"';
const SANE = /(?<!-)icanon[^]*(?<!-)echo /;

/** The composer in a shell; `typed` is drawn. */
async function started(env?: Record<string, string>): Promise<PseudoTerminal> {
  const terminal = new PseudoTerminal({ ...inherited(), NODE: process.execPath, PROGRAM: COMPOSER, ...env });
  await terminal.run("bind 'set enable-bracketed-paste off'; echo se''t", /^set$/m);
  await terminal.run(START, /^ready$/m);
  assert.equal(terminal.screen.terminal.modes.bracketedPasteMode, true);
  assert.equal(terminal.screen.terminal.modes.sendFocusMode, true);
  terminal.type("abc");
  await terminal.until(/^> abc$/m);
  return terminal;
}

/** The shell has the terminal as it was before. */
async function assertSane(terminal: PseudoTerminal): Promise<void> {
  await terminal.run("stty -a; echo do''ne", /^done$/m);
  const { modes } = terminal.screen.terminal;
  assert.match(terminal.rows().join(" "), SANE);
  assert.deepEqual(
    [modes.bracketedPasteMode, modes.sendFocusMode, modes.wraparoundMode, modes.synchronizedOutputMode],
    [false, false, true, false],
  );
  const written = terminal.bytes.join("");
  assert.ok(written.lastIndexOf("\u001b[>4m") > written.lastIndexOf("\u001b[>4;1m"), "modifyOtherKeys is still on");
  assert.ok(written.lastIndexOf("\u001b[?25h") >= written.lastIndexOf("\u001b[?25l"), "the cursor is hidden");
}

test("after an exit the shell has the terminal as it was, and the live rows are gone", async () => {
  using terminal = await started();
  terminal.type("\rdef\u0004");
  await terminal.until(/entered abc\nshell\$ $/);
  await assertSane(terminal);
});

for (const signal of ["TERM", "HUP", "INT", "QUIT"])
  test(`after SIG${signal} the shell has the terminal as it was, and sees the signal`, async () => {
    using terminal = await started();
    const numbers = { TERM: 15, HUP: 1, INT: 2, QUIT: 3 } as Record<string, number>;
    terminal.type("\r");
    await terminal.until(/entered abc/);
    killComposer(terminal, signal);
    await terminal.until(/shell\$ $/);
    await terminal.run("echo code $?", new RegExp(`code ${128 + numbers[signal]!}`));
    await assertSane(terminal);
  });

test("after a crash the shell has the terminal as it was, and the error can be read", async () => {
  using terminal = await started();
  terminal.type("\u0018");
  await terminal.until(/Error: crashed on purpose[^]*shell\$ $/);
  await assertSane(terminal);
});

test("Ctrl-Z gives the shell a sane terminal, and fg draws the composer again", async () => {
  using terminal = await started();
  terminal.type("\u001a");
  await terminal.until(/Stopped[^]*shell\$ $/);
  await assertSane(terminal);
  await terminal.run("fg", /^> abc$/m);
  await terminal.until(() => terminal.screen.terminal.modes.bracketedPasteMode);
  terminal.type("d\u001b[200~pas\rted\u001b[201~\r");
  await terminal.until(/entered abcdpas ted/);
  terminal.type("\u0004");
  await terminal.until(/shell\$ $/);
  await assertSane(terminal);
});

test("a program that was stopped without notice draws again and takes keys when it continues", async () => {
  using terminal = await started();
  killComposer(terminal, "STOP");
  await terminal.until(/Stopped[^]*shell\$ $/);
  await terminal.run("stty sane; fg", /^"\$NODE".*\n[^]*^> abc$/m);
  terminal.type("d\r");
  await terminal.until(/entered abcd/);
});

test("the composer survives a terminal of 1 × 1, and resizes while it runs", async () => {
  using terminal = await started();
  for (const [columns, rows] of [
    [1, 1],
    [200, 3],
    [20, 50],
    [80, 24],
  ] as const)
    terminal.resize(columns, rows);
  terminal.type("d");
  await terminal.until(/^> abcd$/m);
  terminal.type("\r");
  await terminal.until(/^entered abcd$/m);
});

test("a terminal that takes nothing does not block the keyboard, and then shows the newest frame and every printed line", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "cinch-typed-")), "typed");
  using terminal = await started({ TYPED: file });
  terminal.pause();
  terminal.type("\u0006");
  for (const letter of "defghi") {
    await sleep(20);
    terminal.type(letter);
  }
  await terminal.until(() => readFileSync(file, "utf8") === "abcdefghi");
  terminal.resume();
  await terminal.until(/^> abcdefghi$/m);
  const flood = terminal.rows().filter((row) => row.startsWith("entered"));
  assert.deepEqual(
    flood.map((row) => Number(row.split(" ")[1])),
    Array.from({ length: 3_000 }, (_, at) => at),
  );
});

test("where the locale is not UTF-8, a letter of one byte is typed, and only ASCII is drawn", async () => {
  using terminal = await started({ LANG: "C", LC_ALL: "POSIX" });
  // oxlint-disable-next-line no-control-regex
  assert.match(terminal.bytes.join(""), /^[\u0000-\u007f]*$/);
});

/** From outside, as another process would. */
function killComposer(terminal: PseudoTerminal, signal: string): void {
  const pids = execFileSync("pgrep", ["-P", String(terminal.pid)], { encoding: "utf8" })
    .trim()
    .split("\n");
  process.kill(Number(pids[0]), `SIG${signal}` as NodeJS.Signals);
}
