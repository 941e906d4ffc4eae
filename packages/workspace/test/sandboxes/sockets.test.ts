import assert from "node:assert/strict";
import { linkSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { localShell, sandboxShell } from "@cinch/workspace";
import { Sockets } from "../../src/sandboxes/sockets.ts";
import { bubblewrap, sandboxRuntime } from "./sandboxes.ts";
import { closing, folder, ran, until, without } from "../shells/shell-support.ts";

/** A service of the machine at a socket. Counts the connections that send something. */
class Service implements AsyncDisposable {
  heard = "";
  connections = 0;
  readonly #server: Server = createServer((connection) => {
    this.connections++;
    connection.on("data", (data) => (this.heard += String(data)));
    connection.on("error", () => {});
  });

  static async at(path: string): Promise<Service> {
    const service = new Service();
    await new Promise<void>((resolve) => service.#server.listen({ path }, resolve));
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Ways to a socket that lies in the workspace. */
const WAYS = [
  "docker.sock",
  "./docker.sock",
  "link",
  "deep/down/agent",
  "deep/../docker.sock",
  "/proc/self/cwd/docker.sock",
  "moved/down/agent",
  "copy",
];

const TRY_ALL = [
  "mv docker.sock other; cp -a docker.sock copy; ln docker.sock copy; mv deep moved",
  ...WAYS.map((path) => `echo evil | timeout 2 socat - UNIX-CONNECT:"${path}"`),
  "umount docker.sock; rm -f docker.sock; echo evil | timeout 2 socat - UNIX-CONNECT:docker.sock",
  "echo over",
].join("\n");

async function scene(root: string): Promise<Service[]> {
  mkdirSync(join(root, "deep/down"), { recursive: true });
  symlinkSync("docker.sock", join(root, "link"));
  return Promise.all(["docker.sock", "deep/down/agent"].map((path) => Service.at(join(root, path))));
}

describe("a socket in the workspace", { skip: without("socat") }, () => {
  for (const { title, why, lend, close } of [bubblewrap, sandboxRuntime]) {
    test(`can't be connected to in ${title}`, { skip: why }, async () => {
      using root = folder();
      const services = await scene(root.path);
      await using other = closing(sandboxShell({ root: root.path, sandbox: lend() }));
      assert.match((await ran(other.shell, TRY_ALL)).stdout, /over\n$/);
      // Created after the first command; the next command must not reach it either.
      services.push(await Service.at(join(root.path, "late.sock")));
      await ran(other.shell, "echo evil | timeout 2 socat - UNIX-CONNECT:late.sock");
      // The harness itself does not connect to them either.
      assert.deepEqual(
        services.map(({ heard, connections }) => [heard, connections]),
        [
          ["", 0],
          ["", 0],
          ["", 0],
        ],
      );
      for (const service of services) await service[Symbol.asyncDispose]();
      await close();
    });
  }

  test("can be connected to without a sandbox", async () => {
    using root = folder();
    const services = await scene(root.path);
    await using local = closing(localShell({ root: root.path }));
    await ran(
      local.shell,
      "echo evil | timeout 30 socat - UNIX-CONNECT:link; echo evil | timeout 30 socat - UNIX-CONNECT:deep/down/agent",
    );
    await until(() => services.every(({ heard }) => heard !== ""));
    assert.deepEqual(
      services.map(({ heard }) => heard),
      ["evil\n", "evil\n"],
    );
    for (const service of services) await service[Symbol.asyncDispose]();
  });

  test(
    "that a command created can be used by it, and one without a listener can be removed",
    { skip: bubblewrap.why },
    async () => {
      using root = folder();
      await using other = closing(sandboxShell({ root: root.path, sandbox: bubblewrap.lend() }));
      const talk = `
      socat UNIX-LISTEN:own.sock,fork SYSTEM:'echo hello' &
      until socat -t 30 - UNIX-CONNECT:own.sock </dev/null; do sleep 0.1; done
      kill -9 %1`;
      assert.match((await ran(other.shell, talk)).stdout, /^hello\n/);
      const { exit, printed } = await ran(other.shell, "[ -S own.sock ] && rm own.sock && ls -A");
      assert.deepEqual([exit.code, printed], [0, ".cinch\n"], printed);
    },
  );
});

test("a folder that disappears during the scan contains no sockets, and fails no command", async () => {
  using root = folder();
  assert.deepEqual(await new Sockets().in(join(root.path, "gone")), []);
});

test("an open socket that was renamed is found, and one without a listener is not", async () => {
  using root = folder();
  await using open = await Service.at(join(root.path, "first"));
  renameSync(join(root.path, "first"), join(root.path, "second"));
  {
    await using closed = await Service.at(join(root.path, "dead"));
    // A second name keeps the socket when its service removes the first.
    linkSync(join(root.path, "dead"), join(root.path, "left"));
    assert.equal(closed.connections, 0);
  }
  assert.deepEqual(await new Sockets().in(root.path), [join(root.path, "second")]);
  assert.equal(open.heard, "");
});
