import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../testkit/test/free-port.ts";

/** The name in the documentation. It resolves to this machine for the requests of the tests alone. */
const HOST = "cinch.example.com";
const DOCS = fileURLToPath(new URL("../../../../docs/operations.md", import.meta.url));

export type ProxyName = "nginx" | "caddy";

/** Why the proxy can't be run here, or `false`. */
export function whyMissing(name: ProxyName): string | false {
  try {
    execFileSync(name, [name === "nginx" ? "-v" : "version"], { stdio: "ignore" });
    return false;
  } catch {
    return `${name} is not installed`;
  }
}

/** A proxy with TLS in front of a server, with the configuration that the documentation shows. */
export class ProxyProcess implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  readonly #stop: () => Promise<void>;

  private constructor({ port, prefix }: { port: number; prefix: string }, stop: () => Promise<void>) {
    this.#port = port;
    this.#stop = stop;
    this.url = `https://${HOST}:${port}${prefix}`;
  }

  /** `prefix`: below which path the server is. */
  static async start(name: ProxyName, serverPort: number, prefix = ""): Promise<ProxyProcess> {
    const folder = mkdtempSync(join(tmpdir(), "cinch-proxy-"));
    const port = await freePort();
    const shown = withPrefix(shownConfig(name), prefix).replaceAll("127.0.0.1:4664", `127.0.0.1:${serverPort}`);
    const args = name === "nginx" ? nginx(folder, port, shown) : caddy(folder, port, shown);
    const child = spawn(name, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: folder } });
    let said = "";
    child.stderr.on("data", (text: Buffer) => (said += text.toString()));
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const stop = async () => {
      child.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
    };
    const proxy = new ProxyProcess({ port, prefix }, stop);
    while (!(await proxy.#answers())) {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return proxy;
  }

  /** Like `fetch`, to this proxy and with any certificate. */
  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { method = "GET", headers = {}, body = null, signal } = init;
    // Encodes forms as `fetch` does.
    const sent = new Request("http://localhost", { method, body: body as BodyInit, headers });
    const bytes = Buffer.from(await sent.arrayBuffer());
    return new Promise((resolve, reject) => {
      const { host, pathname, search } = new URL(url);
      const asked = request({
        method,
        path: pathname + search,
        headers: { host, ...Object.fromEntries(sent.headers), "content-length": bytes.length },
        hostname: "127.0.0.1",
        port: this.#port,
        servername: HOST,
        rejectUnauthorized: false,
        ...(signal ? { signal } : {}),
      });
      asked.on("error", reject);
      asked.on("response", (response) => {
        const status = response.statusCode!;
        const content = status === 204 ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>);
        const given = Object.entries(response.headers).map(([key, value]): [string, string] => [key, String(value)]);
        resolve(new Response(content, { status, headers: given }));
      });
      asked.end(bytes);
    });
  };

  async #answers(): Promise<boolean> {
    return this.fetch(`${this.url}/v1/health`).then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }
}

/** The block of the documentation that is the configuration of this proxy. */
function shownConfig(name: ProxyName): string {
  const blocks = readFileSync(DOCS, "utf8")
    .split("```")
    .filter((_, at) => at % 2 === 1);
  const block = blocks.find((text) => (name === "nginx" ? text.startsWith("nginx") : text.includes("reverse_proxy")));
  return block!.slice(block!.indexOf("\n"));
}

/** As the documentation says. */
const withPrefix = (config: string, prefix: string): string =>
  prefix === ""
    ? config
    : config
        .replace("location / {", `location ${prefix}/ {`)
        .replace("reverse_proxy 127.0.0.1:4664 {", `handle ${prefix}/* {\nreverse_proxy 127.0.0.1:4664 {`)
        .replace("flush_interval -1\n", "flush_interval -1\n}\n");

function nginx(folder: string, port: number, shown: string): string[] {
  const [pem, key] = [join(folder, "cert.pem"), join(folder, "cert.key")];
  const subject = ["-subj", `/CN=${HOST}`, "-days", "1"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", pem, ...subject], {
    stdio: "ignore",
  });
  const server = shown
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace("/etc/ssl/cinch.example.com.pem", pem)
    .replace("/etc/ssl/cinch.example.com.key", key);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (one) => `${one}_temp_path ${folder}/${one};`,
  );
  const file = join(folder, "nginx.conf");
  const http = ["access_log off;", ...temporary, server].join("\n");
  // A worker of another user could not write to the folder.
  const { username } = userInfo();
  writeFileSync(
    file,
    `user ${username};\ndaemon off;\npid ${folder}/pid;\nerror_log stderr warn;\nevents {}\nhttp {\n${http}\n}\n`,
  );
  return ["-c", file, "-p", folder, "-e", "stderr"];
}

function caddy(folder: string, port: number, shown: string): string[] {
  const own = `admin off\nskip_install_trust\nauto_https disable_redirects\nstorage file_system ${folder}`;
  const config = shown
    .replace("grace_period 10s", `grace_period 1s\n${own}\n`)
    .replace(`${HOST} {`, `https://${HOST}:${port} {\n  bind 127.0.0.1\n  tls internal`);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, config);
  return ["run", "--config", file, "--adapter", "caddyfile"];
}
