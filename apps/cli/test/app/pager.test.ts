import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { linesSource, Pager, type PagerSource } from "../../src/app/pager.ts";
import { line } from "../../src/terminal/line.ts";
import { TerminalModes } from "../../src/terminal/modes.ts";
import { inherited } from "../cli.ts";
import { PAGER } from "../programs.ts";
import { PseudoTerminal } from "../terminal/pseudo-terminal.ts";
import { features, setUp } from "../terminal/stage.ts";

const START = '"$NODE" "$PROGRAM"';
const CTRL = { d: "\u0004", t: "\u0014", x: "\u0018", z: "\u001a" };

const isAlternate = ({ screen }: PseudoTerminal): boolean => screen.terminal.buffer.active.type === "alternate";

/** The pager at its end, opened above a composer with text. */
async function paging(): Promise<PseudoTerminal> {
  const terminal = new PseudoTerminal({ ...inherited(), NODE: process.execPath, PROGRAM: PAGER });
  await terminal.run("bind 'set enable-bracketed-paste off'; echo se''t", /^set$/m);
  await terminal.run(START, /^ready$/m);
  terminal.type("abc");
  await terminal.until(/^> abc$/m);
  terminal.type(CTRL.t);
  await terminal.until(/^line 4999$/m);
  assert.equal(isAlternate(terminal), true);
  return terminal;
}

/** The shell has the main screen with what was printed, and a sane terminal. */
async function assertMain(terminal: PseudoTerminal): Promise<void> {
  await terminal.until(() => !isAlternate(terminal) && terminal.rows().join("\n").endsWith("shell$ "));
  const rows = terminal.rows();
  assert.equal(rows.filter((row) => row === "printed once").length, 1);
  assert.equal(rows.filter((row) => /^line \d/.test(row)).length, 0);
  await terminal.run("stty -a; echo do''ne", /^done$/m);
  assert.match(terminal.rows().join(" "), /(?<!-)icanon[^]*(?<!-)echo /);
  const { modes } = terminal.screen.terminal;
  assert.deepEqual([modes.bracketedPasteMode, modes.sendFocusMode], [false, false]);
}

test("q closes the pager, and the main screen is as it was", async () => {
  using terminal = await paging();
  terminal.type("/line 12");
  await terminal.until(/^\/line 12$/m);
  terminal.type("\r");
  await terminal.until(/^line 1299$/m);
  terminal.type("g");
  await terminal.until(/^line 0$/m);
  terminal.type("q");
  await terminal.until(() => !isAlternate(terminal));
  await terminal.until(/^printed once\n> abc\nready$/m);
  terminal.type("d");
  await terminal.until(/^> abcd$/m);
  terminal.type(CTRL.d);
  await assertMain(terminal);
});

test("a signal in the pager gives the shell its main screen back", async () => {
  using terminal = await paging();
  process.kill(childOf(terminal), "SIGTERM");
  await assertMain(terminal);
});

test("a crash in the pager gives the shell its main screen back, and the error can be read there", async () => {
  using terminal = await paging();
  terminal.type(CTRL.x);
  await terminal.until(/Error: crashed on purpose[^]*shell\$ $/);
  await assertMain(terminal);
});

test("an exit in the pager gives the shell its main screen back", async () => {
  using terminal = await paging();
  terminal.type(CTRL.d);
  await assertMain(terminal);
});

test("Ctrl-Z in the pager gives the shell its main screen, and fg shows the pager again", async () => {
  using terminal = await paging();
  terminal.type("/line 49");
  await terminal.until(/^\/line 49$/m);
  terminal.type(`\r${CTRL.z}`);
  await terminal.until(/Stopped/);
  await assertMain(terminal);
  terminal.type("fg\r");
  await terminal.until(() => isAlternate(terminal) && /^line 4999$/m.test(terminal.rows().join("\n")));
  terminal.type("q");
  await terminal.until(/^> abc$/m);
  assert.equal(isAlternate(terminal), false);
});

test("a pager that was stopped without notice draws again when it continues", async () => {
  using terminal = await paging();
  process.kill(childOf(terminal), "SIGSTOP");
  await terminal.until(/Stopped/);
  terminal.type("stty sane; fg\r");
  await terminal.until(() => terminal.rows().at(-2) === "line 4999" && !/Stopped/.test(terminal.rows().join("\n")));
  terminal.type("q");
  await terminal.until(/^> abc$/m);
  assert.equal(isAlternate(terminal), false);
});

test("the pager fills each screen that it is resized to, down to 1 × 1", async () => {
  using terminal = await paging();
  terminal.resize(1, 1);
  terminal.resize(30, 10);
  await terminal.until(() => /^line 4999$/m.test(terminal.rows().join("\n")) && terminal.rows().length === 9);
  terminal.resize(80, 24);
  await terminal.until(() => terminal.rows()[0] === "line 4978" && terminal.rows().length === 23);
});

test("in the kitty protocol the alternate screen gets keys of its own, and gives them back", async () => {
  const { output, clock, screen } = setUp({ columns: 40, rows: 6 });
  const written = () => output.written.splice(0).join("");
  const input = { setRaw: () => undefined, onBytes: () => () => undefined };
  using modes = new TerminalModes({ input, output, clock, screen });
  modes.answer({ type: "kitty" });
  written();
  const pager = new Pager({
    source: linesSource({ title: "Diff", lines: [line("a")] }),
    modes,
    output,
    clock,
    features,
  });
  assert.ok(written().includes("\u001b[?1049h\u001b[H\u001b[J\u001b[>5u"));
  pager.press({ type: "text", text: "q" });
  await pager.closed;
  assert.ok(written().includes("\u001b[<u\u001b[?1049l"));
});

test("lines that are all there are shown from the start, and a source that fails is said", async () => {
  const { output, clock, screen } = setUp({ columns: 80, rows: 6 });
  const input = { setRaw: () => undefined, onBytes: () => () => undefined };
  using modes = new TerminalModes({ input, output, clock, screen });
  const shown = async (source: PagerSource): Promise<string[]> => {
    using pager = new Pager({ source, modes, output, clock, features });
    await setImmediate();
    pager.press({ type: "key", key: "ctrl-l" });
    await output.settled();
    return output.rows();
  };
  const lines = Array.from({ length: 50 }, (_, at) => line(`row ${at}`));
  const rows = await shown(linesSource({ title: "Diff", lines }));
  assert.deepEqual(rows.slice(0, 4), ["row 0", "row 1", "row 2", "row 3"]);
  const older = () => Promise.reject(new Error("the store is closed"));
  const failed = await shown({ title: "Thread", from: "end", older });
  assert.match(failed.join("\n"), /not loaded: the store is closed/);
});

function childOf(terminal: PseudoTerminal): number {
  return Number(
    execFileSync("pgrep", ["-P", String(terminal.pid)], { encoding: "utf8" })
      .trim()
      .split("\n")[0],
  );
}
