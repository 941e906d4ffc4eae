import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CHILD = join(import.meta.dirname, "child.mjs");

/** Runs one scenario in a process of its own. Never rejects: the reason of a failure is in `failed`. */
export function measure(product, scenario, parameters, { limitMs = 300_000, env = {} } = {}) {
  return new Promise((resolve) => {
    const args = ["--no-warnings", CHILD, product, scenario, JSON.stringify(parameters)];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err = (err + data).slice(-2_000)));
    const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const line = out.split("\n").findLast((text) => text.startsWith("RESULT "));
      resolve(line ? JSON.parse(line.slice(7)) : { failed: `${signal ?? `exit ${code}`} ${err.slice(-400)}` });
    });
  });
}

const root = () => mkdtempSync(join(process.env.BENCH_DATA ?? tmpdir(), "cinch-bench-"));

/** Gives `work` an empty folder and removes it afterwards. */
export async function inFolder(work) {
  const folder = root();
  mkdirSync(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
