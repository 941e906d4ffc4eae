import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import pty from "@lydell/node-pty";
import xterm from "@xterm/headless";

const SIZE = { cols: 80, rows: 24 };
/** In which Linux counts the CPU time of a process. */
const TICK_MS = 10;
const PATIENCE_MS = 60_000;

/** A program in a pseudo-terminal: what it writes, and the CPU time and the memory of its process. Linux only. */
export class MeasuredProcess {
  #process;
  #waiting = null;
  /** All that was written. */
  output = "";
  bytes = 0;
  startedAt = performance.now();

  constructor(args, { cwd, env }) {
    this.#process = pty.spawn(process.execPath, args, { ...SIZE, cwd, env: { PATH: process.env.PATH, ...env } });
    this.exited = new Promise((resolve) => this.#process.onExit(({ exitCode }) => resolve(exitCode)));
    this.#process.onData((data) => this.#receive(data));
  }

  #receive(data) {
    this.output += data;
    this.bytes += Buffer.byteLength(data);
    // The question about attributes, which every terminal answers.
    if (data.includes("\u001b[c")) this.type("\u001b[?62c");
    if (this.#waiting?.isShown(data)) this.#waiting.resolve(performance.now());
  }

  get pid() {
    return this.#process.pid;
  }

  type(keys) {
    this.#process.write(keys);
  }

  /** When the first bytes came that `isShown` accepts. */
  async until(isShown) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const timer = setTimeout(() => reject(new Error(`The app does not show it, but:\n${this.output}`)), PATIENCE_MS);
    this.#waiting = { isShown, resolve };
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting = null;
    }
  }

  /** Milliseconds until the terminal gets this letter. */
  async echoed(letter) {
    const from = performance.now();
    this.type(letter);
    return (await this.until((data) => data.includes(letter))) - from;
  }

  /** When an empty composer was shown: a prompt between two rules. */
  async composer() {
    const isShown = () => /─{60}[^─]*> [^─]*─{60}/.test(stripVTControlCharacters(this.output));
    return isShown() ? performance.now() : this.until(isShown);
  }

  /** The lines that a terminal has after all that was written, on its screen and above. */
  async scrollback() {
    const terminal = new xterm.Terminal({ ...SIZE, scrollback: 100_000, allowProposedApi: true, logLevel: "off" });
    await new Promise((resolve) => terminal.write(this.output, resolve));
    const { active } = terminal.buffer;
    return Array.from({ length: active.length }, (_, at) => active.getLine(at).translateToString(true));
  }

  /** Whether it has cleared the screen or the scrollback. */
  get hasCleared() {
    return this.output.includes("\u001b[2J") || this.output.includes("\u001b[3J");
  }

  /** Milliseconds, of all threads. */
  cpuMs() {
    const fields = readFileSync(`/proc/${this.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }

  /** The most that it has used so far. */
  peakMB() {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "utf8"))[1]) / 1_024;
  }

  /** Bytes and CPU time while `work` lasts. */
  async measured(work) {
    const before = { bytes: this.bytes, cpu: this.cpuMs(), at: performance.now() };
    await work();
    const seconds = (performance.now() - before.at) / 1_000;
    return { seconds, bytes: this.bytes - before.bytes, cpuMsPerS: (this.cpuMs() - before.cpu) / seconds };
  }

  /** As a user does it: Ctrl-C clears the text, then asks, then leaves. */
  async leave() {
    const timers = [0, 200, 400, 600].map((ms) => setTimeout(() => this.type("\u0003"), ms));
    await this.exited;
    for (const timer of timers) clearTimeout(timer);
  }

  [Symbol.dispose]() {
    this.#process.kill("SIGKILL");
  }
}
