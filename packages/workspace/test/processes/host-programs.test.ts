import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { bwrapSandbox, localShell, type Sandbox, sandboxShell, srtSandbox } from "@cinch/workspace";
import { bubblewrap, sandboxRuntime } from "../sandboxes/sandboxes.ts";
import { closing, folder, ran } from "../shells/shell-support.ts";

/** Every program that the harness looks for by its name. */
const PROGRAMS = ["bash", "sh", "bwrap", "git", "mkfifo", "socat", "rg", "node", "env", "which"];

const PATH = process.env.PATH ?? "";

/** Runs with another PATH, as `npm run` would set it. */
async function onPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  process.env.PATH = path;
  return await work().finally(() => (process.env.PATH = PATH));
}

/** A workspace with programs that leave a mark outside of it if they run there. */
function scene(root: string, mark: string): string {
  const bin = join(root, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  for (const name of PROGRAMS) {
    writeFileSync(join(bin, name), `#!/bin/sh\n{ echo ${name} >> ${mark}; } 2>/dev/null\nexec /usr/bin/${name} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  execFileSync("/bin/sh", ["-c", "command -v git >/dev/null && git init -q ."], { cwd: root, env: { PATH } });
  return bin;
}

const sandboxes: [string, string | false, () => Sandbox][] = [
  ["bubblewrap", bubblewrap.why, () => bwrapSandbox()],
  ["sandbox-runtime", sandboxRuntime.why, () => srtSandbox()],
];

describe("a folder of the workspace on the PATH of the harness", () => {
  for (const [title, why, sandbox] of sandboxes) {
    for (const how of ["itself", "by a link", "as a relative path"] as const) {
      test(`provides no program that runs outside of ${title}: ${how}`, { skip: why }, async () => {
        using place = folder();
        const [root, mark] = [join(place.path, "root"), join(place.path, "mark")];
        const bin = scene(root, mark);
        symlinkSync(bin, join(place.path, "link"));
        const first = {
          itself: bin,
          "by a link": join(place.path, "link"),
          "as a relative path": "node_modules/.bin:.",
        };
        await onPath(`${first[how]}:${PATH}`, async () => {
          await using shell = closing(sandboxShell({ root, sandbox: sandbox() }));
          await shell.shell.protection();
          const { exit, printed } = await ran(shell.shell, "git status -s | head -1; echo over");
          assert.deepEqual([exit.code, printed.includes("over")], [0, true], printed);
        });
        assert.equal(existsSync(mark), false);
      });
    }
  }

  test("is still on the PATH of a command", { skip: bubblewrap.why }, async () => {
    using root = folder();
    const bin = join(root.path, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "mine"), "#!/bin/sh\necho mine\n", { mode: 0o755 });
    await onPath(`${bin}:${PATH}`, async () => {
      await using shell = closing(sandboxShell({ root: root.path, sandbox: bubblewrap.lend() }));
      assert.equal((await ran(shell.shell, "mine")).printed, "mine\n");
      await using local = closing(localShell({ root: root.path }));
      assert.equal((await ran(local.shell, "mine")).printed, "mine\n");
    });
  });
});
