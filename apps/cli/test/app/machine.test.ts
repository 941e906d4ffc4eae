import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { clipboardImage } from "../../src/app/clipboard-image.ts";
import { editExternally } from "../../src/app/external-editor.ts";
import { FileList } from "../../src/app/file-list.ts";
import { gitBranch } from "../../src/app/git-branch.ts";
import { UserCommand, userCommandLines } from "../../src/app/user-command.ts";
import { plainText } from "../terminal/stage.ts";

function temporary() {
  const folder = mkdtempSync(join(tmpdir(), "cinch-machine-"));
  const write = (path: string, contents: string | Uint8Array, mode = 0o644) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), contents);
    chmodSync(join(folder, path), mode);
  };
  return { folder, write, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }) };
}

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** The programs of this test stand before those of the machine. */
function withPath<T>(folder: string, use: () => Promise<T>): Promise<T> {
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}${delimiter}${before}`;
  return use().finally(() => (process.env["PATH"] = before));
}

test("an image is read from the clipboard by the program of the desktop", async () => {
  using place = temporary();
  place.write("image.png", PNG);
  place.write("bin/wl-paste", `#!/bin/sh\nexec cat "${place.folder}/image.png"\n`, 0o755);
  const read = await withPath(join(place.folder, "bin"), () => clipboardImage({ WAYLAND_DISPLAY: "x" }, "linux"));
  assert.ok(read.kind === "file");
  assert.equal(read.file.mediaType, "image/png");
  assert.deepEqual(Buffer.from(read.file.data as Uint8Array), PNG);
});

test("where no image can be read, a sentence says why", async () => {
  using place = temporary();
  place.write("bin/xclip", "#!/bin/sh\nexit 1\n", 0o755);
  const reason = async (env: Record<string, string>, platform: NodeJS.Platform = "linux") => {
    const read = await withPath(join(place.folder, "bin"), () => clipboardImage(env, platform));
    return read.kind === "refused" ? read.reason : "";
  };
  assert.match(await reason({ DISPLAY: ":0" }), /holds no image/);
  assert.match(await reason({ SSH_TTY: "/dev/pts/1", DISPLAY: ":0" }), /Over SSH/);
  assert.match(await reason({}), /no clipboard here/);
  assert.match(await reason({}, "darwin"), /pngpaste: brew install pngpaste/);
});

test("an editor with arguments edits a private copy; one that fails is named with what to do", async () => {
  const env = (EDITOR: string) => ({ EDITOR, PATH: process.env["PATH"] });
  const extension = "md";
  const edited = await editExternally("one\n", { extension, env: env('sh -c \'ls -l "$0" | cut -c1-10 >> "$0"\'') });
  assert.deepEqual(edited, { kind: "edited", text: "one\n-rw-------" });
  const missing = await editExternally("one", { extension, env: env("no-such-editor") });
  assert.ok(missing.kind === "failed");
  assert.match(missing.reason, /no-such-editor ended with code 127\. Set VISUAL or EDITOR/);
});

test("the files of a project are listed in the background, without what is ignored", async () => {
  using place = temporary();
  place.write("src/sum.ts", "");
  place.write("build/out.js", "");
  place.write("node_modules/x/index.js", "");
  place.write(".gitignore", "build/\n");
  const listed = Promise.withResolvers<void>();
  using list = new FileList({ folder: place.folder, now: () => 0, changed: listed.resolve });
  list.refresh();
  assert.deepEqual(list.files, []);
  await listed.promise;
  assert.deepEqual(list.files.toSorted(), [".gitignore", "src/", "src/sum.ts"]);
});

test("the branch is read of a repository, of a worktree, and of a commit", async () => {
  using place = temporary();
  assert.equal(await gitBranch(place.folder), null);
  place.write("repo/.git/HEAD", "ref: refs/heads/feature/one\n");
  place.write("repo/src/deep/file", "");
  assert.equal(await gitBranch(join(place.folder, "repo/src/deep")), "feature/one");
  place.write("real/HEAD", "0123456789abcdef\n");
  place.write("tree/.git", `gitdir: ${join(place.folder, "real")}\n`);
  assert.equal(await gitBranch(join(place.folder, "tree")), "0123456");
});

test("no pipe, device or huge file in the place of a branch is waited for, or read whole", async () => {
  using place = temporary();
  const repository = (name: string) => {
    place.write(`${name}/.git/index`, "");
    return { folder: join(place.folder, name), head: join(place.folder, name, ".git/HEAD") };
  };
  const [pipe, device, huge] = [repository("pipe"), repository("device"), repository("huge")];
  execFileSync("mkfifo", [pipe.head]);
  symlinkSync("/dev/zero", device.head);
  place.write("huge/.git/HEAD", "ref: refs/heads/main\n");
  truncateSync(huge.head, 8 * 1024 ** 3);
  const branches = await Promise.all([pipe, device, huge].map(({ folder }) => gitBranch(folder)));
  assert.deepEqual(branches, [null, null, "main"]);
});

test("a command of the user runs in the folder; its output is kept by its end, and how it ended", async () => {
  using place = temporary();
  const run = (command: string) =>
    new UserCommand(command, { folder: place.folder, env: process.env, changed: () => undefined });
  place.write("here.txt", "");
  assert.deepEqual(await run("ls").ended, { command: "ls", output: "here.txt\n", ending: null });
  assert.equal((await run("echo no >&2; exit 4").ended).ending, "exit 4");
  const long = await run("seq 100000").ended;
  assert.ok(long.output.length <= 30_001 && long.output.startsWith("…") && long.output.endsWith("\n100000\n"));
  assert.deepEqual(userCommandLines({ command: "x", output: "a\u001b[2Jb\n", ending: "exit 1" }).map(plainText), [
    "",
    "$ x",
    "ab",
    "exit 1",
  ]);
  // A terminal shows of a progress bar what was written last.
  const progress = { command: "x", output: "10 %\r 50 %\rdone\r\nnext\n", ending: null };
  assert.deepEqual(userCommandLines(progress).map(plainText), ["", "$ x", "done", "next"]);
});

test("a command of the user in a folder that was removed says so", async () => {
  const command = new UserCommand("ls", { folder: "/no/such/folder", env: process.env, changed: () => undefined });
  assert.equal((await command.ended).ending, "/no/such/folder does not exist any more");
});

test("a command of the user that prints nothing shows that it runs, and how it is stopped", async () => {
  using place = temporary();
  const command = new UserCommand("sleep 1000\n", {
    folder: place.folder,
    env: process.env,
    changed: () => undefined,
  });
  const context = { width: 60, rows: 20, now: 0, unicode: true, active: true };
  assert.deepEqual(command.live(context).map(plainText), ["⠋ $ sleep 1000 · Esc stops"]);
  command.stop();
  await command.ended;
});

test("stopping a command of the user stops what it started", async () => {
  using place = temporary();
  const command = new UserCommand("sleep 1000 & echo started; wait", {
    folder: place.folder,
    env: process.env,
    changed: () => command.stop(),
  });
  const { ending, output } = await command.ended;
  assert.deepEqual([output, ending], ["started\n", "stopped"]);
});
