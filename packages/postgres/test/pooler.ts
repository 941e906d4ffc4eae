import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "../../testkit/test/free-port.ts";
import { waitUntilUp } from "./server.ts";

const PATH = [process.env["PATH"], "/usr/sbin", "/usr/local/sbin"].join(delimiter);

/** Why there is no pgbouncer to test with, or false. */
export const withoutPooler = ((): string | false => {
  try {
    execFileSync("pgbouncer", ["--version"], { env: { PATH }, stdio: "ignore" });
    return false;
  } catch {
    return "pgbouncer is not installed (apt-get install pgbouncer)";
  }
})();

/** A pgbouncer in transaction mode before the server, with fewer connections to it than a store may have. */
export class Pooler implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #process;

  private constructor(url: string, folder: string) {
    this.url = url;
    this.#folder = folder;
    const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
    this.#process = spawn("pgbouncer", [...user, join(folder, "pgbouncer.ini")], { env: { PATH }, stdio: "ignore" });
    // A test that has failed may not dispose of it.
    process.once("exit", () => this.#process.kill("SIGKILL"));
  }

  static async to(server: string): Promise<Pooler> {
    const folder = mkdtempSync(join(tmpdir(), "cinch-pooler-"));
    const { hostname, port, username } = new URL(server);
    const url = new URL(server);
    url.port = String(await freePort());
    const settings = [
      "[databases]",
      `* = host=${hostname} port=${port || 5432}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${url.port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${join(folder, "users")}`,
      "pool_mode = transaction",
      "default_pool_size = 3",
      "max_client_conn = 200",
    ];
    writeFileSync(join(folder, "users"), `"${username}" ""\n`);
    writeFileSync(join(folder, "pgbouncer.ini"), settings.join("\n"));
    // The pooler runs as another user.
    chmodSync(folder, 0o755);
    const pooler = new Pooler(url.href, folder);
    await waitUntilUp(url.href);
    return pooler;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 9 });
  }
}
