import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import process from "node:process";

/** Replaces the file at a path by something else and back, as fast as possible, until it is killed. */
const [kind, path, other] = process.argv.slice(2) as [string, string, string];

const attempt = (work: () => void) => {
  try {
    work();
  } catch {
    // The other side creates, moves and deletes here too.
  }
};

/** Keeps each state for a random time, so that the other side finds both. */
const linger = () => {
  for (const until = performance.now() + Math.random() * 0.2; performance.now() < until;);
};

const swaps: Record<string, () => void> = {
  /** A folder or file, and a link in its place. */
  link() {
    attempt(() => renameSync(path, `${path}.kept`));
    attempt(() => symlinkSync(other, path));
    linger();
    attempt(() => unlinkSync(path));
    attempt(() => renameSync(`${path}.kept`, path));
    linger();
  },
  /** A link that points here, then there. */
  target() {
    const next = readlinkSync(path) === other ? "src" : other;
    attempt(() => symlinkSync(next, `${path}.next`));
    attempt(() => renameSync(`${path}.next`, path));
    linger();
  },
  /** A folder that is created again whenever it is deleted, and is a link in between. */
  tree() {
    attempt(() => mkdirSync(`${path}/sub`, { recursive: true }));
    attempt(() => writeFileSync(`${path}/sub/a.txt`, "inside"));
    attempt(() => renameSync(`${path}/sub`, `${path}/kept`));
    linger();
    attempt(() => symlinkSync(other, `${path}/sub`));
    linger();
    attempt(() => unlinkSync(`${path}/sub`));
    attempt(() => rmSync(`${path}/kept`, { recursive: true, force: true, maxRetries: 9 }));
  },
  /** A file, and a pipe in its place. */
  pipe() {
    attempt(() => renameSync(path, `${path}.kept`));
    attempt(() => renameSync(other, path));
    linger();
    attempt(() => renameSync(path, other));
    attempt(() => renameSync(`${path}.kept`, path));
    linger();
  },
};

if (kind === "pipe") execFileSync("mkfifo", [other]);
const swap = swaps[kind]!;
process.stdout.write("ready\n");
for (;;) swap();
