import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../testkit/test/free-port.ts";

const START_MS = 300_000;

/** A Restate server. Its requests are signed with the key `identity`. */
export interface RestateServer {
  ingress: string;
  admin: string;
  identity: string;
  pid: number;
}

/** The server that all test processes of a run share. It is never stopped by a test. */
export function sharedRestate(): Promise<RestateServer> {
  return (made ??= makeServer());
}

let made: Promise<RestateServer> | undefined;

async function makeServer(): Promise<RestateServer> {
  const { TEST_RESTATE: folder } = process.env;
  if (!folder) return ownRestate();
  const ready = join(folder, "server.json");
  try {
    mkdirSync(folder);
  } catch {
    for (const end = Date.now() + START_MS; Date.now() < end; await sleep(20))
      if (existsSync(ready)) return JSON.parse(readFileSync(ready, "utf8")) as RestateServer;
    throw new Error(`Another test process did not start Restate: there is no ${ready}.`);
  }
  const server = await startRestate(folder, { detached: true });
  writeFileSync(`${ready}.new`, JSON.stringify(server));
  renameSync(`${ready}.new`, ready);
  return server;
}

/** A server for one test, which may kill it. It ends with this process. */
export async function ownRestate(): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-restate-"));
  const server = await startRestate(folder);
  process.once("exit", () => {
    endRestate(server.pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  return server;
}

/** Starts a server on the data of the folder, or on a copy of the ports of one that ran there before. */
export async function startRestate(
  folder: string,
  { detached = false, as }: { detached?: boolean; as?: RestateServer } = {},
): Promise<RestateServer> {
  const [ingress = 0, admin = 0, node = 0] = as
    ? [portOf(as.ingress), portOf(as.admin), await freePort()]
    : [await freePort(), await freePort(), await freePort()];
  const key = join(folder, "identity.pem");
  const identity = as?.identity ?? writeKey(key);
  const config = join(folder, "restate.toml");
  writeFileSync(config, configOf({ folder, ingress, admin, node, key }));
  const log = openSync(join(folder, "log"), "a");
  const server = spawn(binary(), ["--config-file", config, "--no-logo"], {
    detached,
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", log, log],
  });
  server.unref();
  const started = {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    identity,
    pid: server.pid!,
  };
  await waitFor(`${started.ingress}/restate/health`);
  // Answered by the partitions, which are the last to be ready.
  const query = JSON.stringify({ query: "SELECT count(*) FROM sys_invocation_status" });
  await waitFor(`${started.admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: query,
  });
  return started;
}

/** Ends a server at once, as `kill -9` does. */
export function endRestate(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

const portOf = (url: string): number => Number(new URL(url).port);

function configOf({ folder, ingress, admin, node, key }: Record<"folder" | "key", string> & Record<string, unknown>) {
  return `disable-telemetry = true
default-num-partitions = 4
rocksdb-total-memory-size = "256.0 MiB"
log-filter = "warn"
listen-mode = "tcp"
bind-ip = "127.0.0.1"
bind-port = ${String(node)}
base-dir = ${JSON.stringify(join(folder, "data"))}
[ingress]
bind-ip = "127.0.0.1"
bind-port = ${String(ingress)}
[admin]
bind-ip = "127.0.0.1"
bind-port = ${String(admin)}
disable-web-ui = true
[worker.invoker]
request-identity-private-key-pem-file = ${JSON.stringify(key)}
`;
}

/** The binary is in a package of its own for each platform. */
function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json"));
  const manifest = require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/package.json`);
  return join(manifest, "../bin/restate-server");
}

/** Writes a new private key. Returns the public one, as Restate prints it. */
function writeKey(file: string): string {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  return `publickeyv1_${base58(raw)}`;
}

const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function base58(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; value > 0n; value /= 58n) text = DIGITS[Number(value % 58n)] + text;
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = `1${text}`;
  }
  return text;
}

async function waitFor(url: string, init?: RequestInit): Promise<void> {
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(20)) {
    const response = await fetch(url, init).catch(() => undefined);
    if (response?.ok) return;
  }
  throw new Error(`Restate did not start: ${url} does not answer.`);
}
