import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Below those that the system gives to connections, and to servers that leave the choice to it. */
const FIRST = 10_000;
const LAST = 32_000;

const claims: string[] = [];

/** A port on which a test can start a server later, stop it and start it again. It belongs to this process until its end. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (claim(port) && (await isFree(port))) return port;
  }
}

/** The test processes of a run have the same temporary folder. */
function claim(port: number): boolean {
  const file = join(tmpdir(), `cinch-port-${port}`);
  try {
    writeFileSync(file, "", { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  if (claims.push(file) === 1) process.once("exit", removeClaims);
  return true;
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
