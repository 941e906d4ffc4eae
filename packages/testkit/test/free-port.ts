import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";

/** Below those that the system gives to connections, and to servers that leave the choice to it. */
const FIRST = 10_000;
const LAST = 32_000;

/** Each run has a temporary folder of its own, and all runs of a machine have the same ports. */
const CLAIMS = "/tmp/cinch-ports";

const claims: string[] = [];

/** A port on which a test can start a server later, stop it and start it again. It belongs to this process until its end. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (claim(port) && (await isFree(port))) return port;
  }
}

function claim(port: number): boolean {
  if (mkdirSync(CLAIMS, { recursive: true }) !== undefined) chmodSync(CLAIMS, 0o1777);
  const file = join(CLAIMS, `${port}`);
  try {
    writeFileSync(file, `${process.pid}`, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    removeLeft(file);
    return false;
  }
  if (claims.push(file) === 1) process.once("exit", removeClaims);
  return true;
}

/** A process that was killed has not removed its claims. */
function removeLeft(file: string): void {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    // It is empty while its process writes it.
    if (pid > 0) process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") rmSync(file, { force: true });
  }
}

function removeClaims(): void {
  for (const file of claims) rmSync(file, { force: true });
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
