import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { localShell, sandboxShell, type Shell } from "@cinch/workspace";
import { bubblewrap, sandboxRuntime } from "./sandboxes.ts";
import { closing, folder, longSleep, processesWith, ran, without } from "../shells/shell-support.ts";

const SECRET = "very-secret-value";

/** An attack that must fail. Should a sandbox not stop it, it must still do no harm to the machine that runs the tests. */
interface Trick {
  /** `OUT` is a folder outside, `PORT`, `SOCKET` and `ABSTRACT` are servers of the machine, `PID` a process of it. */
  command: string;
  /** What the output must match. */
  says?: RegExp;
  /** The attack succeeds without a sandbox, which is tested too: an attack that never works proves nothing. */
  real?: true;
  needs?: string;
}

const NO =
  /denied|not permitted|No such|Read-only|refused|unreachable|cross-device|not exist|failed|cannot|not mounted/i;

const tricks: Record<string, Trick> = {
  "writing outside": { command: "echo x > OUT/new", says: NO, real: true },
  "writing into the system": { command: "echo x > /usr/cinch-test; echo x > /etc/cinch-test", says: NO },
  "writing through a link to the outside": { command: "ln -s OUT link; echo x > link/new", says: NO, real: true },
  "writing through a link that was there": { command: "echo x > out-link/new", says: NO, real: true },
  "going up from the folder": { command: "cd ..; echo x > outside/new; cat outside/secret", says: NO, real: true },
  "reading a file outside": { command: "cat OUT/secret", says: NO, real: true },
  "reading it through a link": { command: "cat out-link/secret", says: NO, real: true },
  "reading keys in the home": {
    command: "for f in .ssh/id_rsa .aws/credentials .config/tokens .netrc .npmrc .git-credentials; do cat ~/$f; done",
    says: /^(.*(No such|denied).*\n){6}$/,
    real: true,
  },
  "reading the homes of others": {
    command: "ls /root/.ssh /home/*/.ssh; cat /root/.npmrc /root/.bash_history",
    says: NO,
  },
  "reading the hashes of passwords": { command: "cat /etc/shadow /etc/gshadow", says: NO },
  "making a hard link to a file outside": { command: "ln OUT/secret mine && cat mine", says: NO, real: true },
  "looking at the first process": { command: "tr '\\0' '\\n' < /proc/1/environ; cat /proc/1/cmdline | tr '\\0' ' '" },
  "looking at the environment of a process outside": { command: "cat /proc/PID/environ", says: NO, real: true },
  "going through the root of another process": {
    command: "for p in /proc/[0-9]*; do cat $p/root/OUT/secret; done",
    says: NO,
    real: true,
  },
  "killing a process outside": { command: "[ PID -lt 1000 ] || kill -9 PID; pkill -9 -f '^sleep TOKEN'", real: true },
  "attaching to a process outside": { command: "cat /proc/PID/mem /proc/PID/maps; gdb -p PID -batch", says: NO },
  "connecting to a server of the machine": { command: "echo hello > /dev/tcp/127.0.0.1/PORT", says: NO, real: true },
  "connecting to a socket in a folder": {
    command: "echo hello | socat - UNIX-CONNECT:SOCKET",
    says: NO,
    real: true,
    needs: "socat",
  },
  "connecting to an abstract socket": {
    command: "echo hello | socat - ABSTRACT-CONNECT:NAME",
    says: NO,
    real: true,
    needs: "socat",
  },
  "connecting to services": {
    command: "ls -A /run/docker.sock /var/run/docker.sock /run/dbus /run/user /run/systemd /tmp/.X11-unix",
    says: NO,
  },
  mounting: { command: "mkdir -p m; mount -t tmpfs none m", says: NO },
  "unmounting what hides things": { command: "umount /etc/shadow; umount -l ~; cat /etc/shadow", says: NO },
  "making namespaces of its own": { command: "unshare -Urm sh -c 'umount -l /etc/shadow; cat /etc/shadow'", says: NO },
  "changing the root": { command: "/usr/sbin/chroot /proc/1/root cat OUT/secret", says: NO },
  "reading the memory and the disks": {
    command: "head -c 1 /dev/mem /dev/kmem /dev/sda /dev/vda; mknod disk b 8 0 && head -c 1 disk",
    says: NO,
  },
  "changing the kernel": {
    command: 'for f in kernel/core_pattern kernel/modprobe; do v=$(cat /proc/sys/$f); echo "$v" > /proc/sys/$f; done',
    says: NO,
  },
  "changing a control group": {
    command: "mkdir /sys/fs/cgroup/cinch-test; echo x > /sys/fs/cgroup/release_agent",
    says: NO,
  },
  "typing into a terminal": { command: "echo x > /dev/tty; cat < /dev/tty", says: /tty/ },
  "preloading a library": { command: "touch lib.so; LD_PRELOAD=$PWD/lib.so cat OUT/secret", says: NO, real: true },
  "becoming another user": {
    command: "sudo -n cat OUT/secret; cp /bin/cat mine; chmod u+s mine; ./mine OUT/secret",
    says: NO,
    real: true,
  },
  "writing a cron job": {
    command: "echo '# x' > /etc/cron.d/cinch-test; echo '# x' > /var/spool/cron/cinch-test",
    says: NO,
  },
  "writing what is run at the next login": { command: "echo evil >> ~/.bashrc; echo evil > ~/.profile", real: true },
  "adding a key": { command: "mkdir -p ~/.ssh; echo evil > ~/.ssh/authorized_keys", real: true },
  "writing a hook": { command: "echo evil > .git/hooks/pre-commit", says: NO, real: true },
  "putting other hooks in their place": {
    command: "mv .git/hooks x; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    says: NO,
    real: true,
  },
  "configuring git": { command: "git config core.fsmonitor evil; echo evil >> .git/config", says: NO, real: true },
  "putting another repository in its place": {
    command: "mv .git x && cp -r x .git && echo evil >> .git/config",
    says: NO,
    real: true,
  },
  "sending git to another repository": { command: "cp -r .git other; echo ../other > .git/commondir", real: true },
  "reading the store": { command: "cat .cinch/cinch.db", says: NO, real: true },
  "changing the store": { command: "echo x > .cinch/cinch.db; rm -f .cinch/cinch.db", says: NO, real: true },
};

/** The things to protect: files around a workspace, servers and a process of the machine. */
class Scene implements AsyncDisposable {
  readonly #place = folder();
  readonly root = join(this.#place.path, "root");
  readonly outside = join(this.#place.path, "outside");
  readonly home = join(this.#place.path, "home");
  readonly #name = `cinch-test-${process.pid}-${longSleep()}`;
  readonly #token = longSleep();
  readonly #victim = spawn("sleep", [this.#token], { env: { ...process.env, CINCH_TEST_API_KEY: SECRET } });
  readonly #servers: Server[] = [];
  readonly #heard: string[] = [];
  #port = 0;

  async open(): Promise<void> {
    for (const path of [this.root, this.outside, this.home]) mkdirSync(path);
    const keys = [".ssh/id_rsa", ".aws/credentials", ".config/tokens", ".netrc", ".npmrc", ".git-credentials"];
    const secrets = [...keys.map((key) => join(this.home, key)), join(this.outside, "secret"), this.store];
    for (const file of secrets) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, SECRET);
    }
    writeFileSync(join(this.home, ".bashrc"), "# mine\n");
    symlinkSync(this.outside, join(this.root, "out-link"));
    execFileSync("git", ["init", "-q", this.root]);
    this.#port = ((await this.#listen({ port: 0, host: "127.0.0.1" })).address() as AddressInfo).port;
    await this.#listen({ path: join(this.outside, "socket") });
    await this.#listen({ path: `\0${this.#name}` });
  }

  get store(): string {
    return join(this.root, ".cinch", "cinch.db");
  }

  #listen(where: { port: number; host: string } | { path: string }): Promise<Server> {
    return new Promise((resolve) => {
      const server = createServer((connection) => {
        this.#heard.push(JSON.stringify(where));
        connection.destroy();
      });
      this.#servers.push(server);
      server.listen(where, () => resolve(server));
    });
  }

  fill(command: string): string {
    return command
      .replaceAll("OUT", this.outside)
      .replaceAll("SOCKET", join(this.outside, "socket"))
      .replaceAll("NAME", this.#name)
      .replaceAll("PORT", String(this.#port))
      .replaceAll("PID", String(this.#victim.pid))
      .replaceAll("TOKEN", this.#token);
  }

  /** Everything that must not change. */
  look() {
    const list = (path: string): string[] => readdirSync(path, { recursive: true }).map(String).toSorted();
    const read = (path: string): string | null => (existsSync(path) ? readFileSync(path, "utf8") : null);
    return {
      outside: list(this.outside),
      home: list(this.home),
      hooks: list(join(this.root, ".git/hooks")),
      elsewhere: existsSync(join(this.root, ".git/commondir")),
      files: [join(this.home, ".bashrc"), join(this.root, ".git/config"), this.store].map(read),
      heard: this.#heard.length,
      victim: this.#victim.signalCode,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#victim.kill("SIGKILL");
    for (const server of this.#servers) server.close();
    this.#place[Symbol.dispose]();
  }
}

for (const sandbox of [bubblewrap, sandboxRuntime]) {
  describe(`in ${sandbox.title} these fail`, { skip: sandbox.why }, () => {
    let scene: Scene;
    let shell: Shell;
    let unharmed: object;
    /** The output of each attack. All run in one command, because a sandbox is slow to start. */
    const printed = new Map<string, string>();

    before(async () => {
      scene = new Scene();
      await scene.open();
      shell = sandboxShell({
        root: scene.root,
        sandbox: sandbox.lend(),
        env: { HOME: scene.home },
        hidden: [scene.store],
      });
      unharmed = scene.look();
      const all = Object.entries(tricks).map(([what, { command }], n) => {
        writeFileSync(join(scene.root, `trick-${n}.sh`), scene.fill(command));
        return `echo "=== ${what}"; timeout 30 bash trick-${n}.sh 2>&1`;
      });
      const { stdout } = await ran(shell, all.join("\n"));
      for (const part of stdout.split("=== ").slice(1)) {
        const end = part.indexOf("\n");
        printed.set(part.slice(0, end), part.slice(end + 1));
      }
    });
    after(async () => {
      await shell.close?.();
      await sandbox.close();
      await scene[Symbol.asyncDispose]();
    });

    for (const [what, { says = /^/, needs = "sh" }] of Object.entries(tricks)) {
      test(what, { skip: without(needs) }, () => {
        const said = printed.get(what);
        assert.ok(said !== undefined, "it was not even tried");
        assert.doesNotMatch(said, new RegExp(SECRET));
        assert.match(said, says);
      });
    }

    test("all of these: nothing outside has changed", () => assert.deepEqual(scene.look(), unharmed));

    test("leaving a process behind", async () => {
      const seconds = longSleep();
      const command = `setsid nohup sleep ${seconds} >/dev/null 2>&1 & (env -i setsid sleep ${seconds} &) ; true`;
      const { exit } = await ran(shell, command, { combined: true });
      assert.deepEqual([exit.code, exit.leftBehind, processesWith(seconds)], [0, true, []]);
    });
  });
}

describe("without a sandbox these succeed", { concurrency: 4 }, () => {
  for (const [what, { command, real, needs = "sh" }] of Object.entries(tricks)) {
    if (!real) continue;
    test(what, { skip: without(needs) }, async () => {
      await using scene = new Scene();
      await scene.open();
      await using local = closing(localShell({ root: scene.root, env: { HOME: scene.home } }));
      const unharmed = scene.look();
      const { printed } = await ran(local.shell, scene.fill(command), { combined: true, timeoutMs: 30_000 });
      const leaked = printed.includes(SECRET);
      // Of a connection and of the end of a process, this process hears later.
      const end = performance.now() + 30_000;
      const hasWorked = () => leaked || !isDeepStrictEqual(scene.look(), unharmed);
      while (!hasWorked() && performance.now() < end) await sleep(20);
      assert.notDeepEqual([scene.look(), leaked], [unharmed, false], printed);
    });
  }
});
