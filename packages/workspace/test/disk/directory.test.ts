import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { directoryBackend } from "@cinch/workspace";
import { outcome, Scene } from "./attack.ts";
import { TemporaryFolder, reach } from "../temporary-folder.ts";

const script = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url));
const node = ["-C", "@cinch/source"];

describe("a directory", () => {
  for (const confinement of ["descriptors", "checks"]) {
    test(`a file that the operating system protects is denied, and other files are not affected (${confinement})`, async () => {
      // Permissions do not apply to root, so another user makes the calls.
      const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [...node, script("ordinary-user.ts"), confinement],
        ordinary,
      );
      assert.deepEqual(JSON.parse(stdout), {
        readUnreadable: "denied",
        statUnreadable: "file /unreadable.txt",
        writeReadonly: "denied",
        readReadonly: "inside",
        listLocked: "denied",
        readInLocked: "denied",
        writeInFrozen: "denied",
        deleteInFrozen: "denied",
        readInFrozen: "inside",
        readThroughPassage: "inside",
        listPassage: "denied",
        glob: "/frozen/file.txt /locked/file.txt",
        grep: "/frozen/file.txt:inside /locked/file.txt:inside /readonly.txt:inside /src/a.txt:inside",
      });
    });
  }

  test("a write keeps the mode of the file", async () => {
    await using scene = await Scene.make();
    for (const mode of [0o600, 0o755, 0o640, 0o444]) {
      chmodSync(scene.inside("src/a.txt"), mode);
      if (mode === 0o444 && process.getuid?.() !== 0) continue;
      await scene.write("/src/a.txt", `mode ${mode}`);
      assert.equal(statSync(scene.inside("src/a.txt")).mode & 0o777, mode);
    }
    await scene.write("/src/new.txt", "x");
    assert.equal(statSync(scene.inside("src/new.txt")).mode & 0o777, 0o666 & ~process.umask());
  });

  test("a write replaces the file, so that a program that has it open keeps the old contents", async () => {
    await using scene = await Scene.make();
    const before = statSync(scene.inside("src/a.txt")).ino;
    await scene.write("/src/a.txt", "new");
    assert.notEqual(statSync(scene.inside("src/a.txt")).ino, before);
  });

  test("a change by another process changes the version, even in place and with the same length", async () => {
    await using scene = await Scene.make();
    const path = scene.inside("src/a.txt");
    for (let turn = 0; turn < 30; turn++) {
      await scene.write("/src/a.txt", "AAAA");
      const { version } = (await scene.backend.stat("/src/a.txt", reach))!;
      writeFileSync(path, turn % 2 === 0 ? "BBBB" : "CCCC", { flag: "r+" });
      assert.equal(await outcome(scene.write("/src/a.txt", "DDDD", version)), "changed");
      // The modification time can be set back, but the change time can't.
      const { atime, mtime } = await stat(path);
      const second = (await scene.backend.stat("/src/a.txt", reach))!.version;
      writeFileSync(path, "EEEE", { flag: "r+" });
      utimesSync(path, atime, mtime);
      assert.equal(await outcome(scene.write("/src/a.txt", "FFFF", second)), "changed");
    }
  });

  test("of concurrent writes of two backends that expect the same version, one succeeds", async () => {
    await using scene = await Scene.make();
    const other = directoryBackend({ root: scene.root });
    const { version } = (await scene.backend.stat("/src/a.txt", reach))!;
    async function* content() {
      yield new Uint8Array(10);
    }
    const writes = [scene.backend, other, scene.backend, other].map((one) =>
      one.write("/src/a.txt", content(), { ifVersion: version }, reach),
    );
    const results = await Promise.allSettled(writes);
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  });

  test("if four processes create the same files, each file is created by one of them", async () => {
    await using place = await TemporaryFolder.make();
    const made = Array.from({ length: 4 }, () =>
      promisify(execFile)(process.execPath, [...node, script("writer-process.ts"), "new", place.path]),
    );
    const won = (await Promise.all(made)).flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
    assert.deepEqual(
      won.toSorted((a, b) => a - b),
      Array.from({ length: 200 }, (_, at) => at),
    );
    assert.deepEqual(readdirSync(place.path), ["made"]);
  });

  test("a process that dies while it writes leaves the old file, and nothing visible", async () => {
    await using scene = await Scene.make();
    scene.file("a.txt", "old");
    const child = spawn(process.execPath, [...node, script("writer-process.ts"), "slow", scene.root], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    const left = readdirSync(scene.root).filter((name) => name.startsWith(".cinch-tmp-"));
    assert.equal(left.length, 1);
    assert.deepEqual([await scene.read("/a.txt"), await scene.list("/")], ["old", "/a.txt /src"]);
    assert.deepEqual([await scene.glob("**"), await scene.grep("by ")], ["/a.txt /src/a.txt", ""]);
    assert.equal(await outcome(scene.read(`/${left[0]}`)), "invalid");
    // It is removed a long time later.
    assert.equal(readdirSync(scene.root).length, 3);
    const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
    utimesSync(scene.inside(left[0]!), old, old);
    await scene.list("/");
    assert.deepEqual(readdirSync(scene.root).toSorted(), ["a.txt", "src"]);
  });

  test("its root may be a link, and may be made again", async () => {
    await using scene = await Scene.make();
    symlinkSync(scene.root, scene.beside("alias"));
    const backend = directoryBackend({ root: scene.beside("alias") });
    scene.link("out", scene.outside("secret.txt"));
    scene.link("in", `${scene.beside("alias")}/src/a.txt`);
    assert.deepEqual((await backend.list("/", reach)).map(({ path }) => path).toSorted(), ["/in", "/src"]);
    assert.equal((await backend.stat("/in", reach))?.size, 6);
    await rm(scene.root, { recursive: true });
    assert.equal(await outcome(backend.list("/", reach).then(String)), "failed");
    await mkdir(scene.root);
    assert.deepEqual(await backend.list("/", reach), []);
  });

  test("stat and resolve give the target of a link", async () => {
    await using scene = await Scene.make();
    scene.link("link", "src");
    scene.link("src/again", "../link/a.txt");
    const entries = await scene.backend.list("/", reach);
    assert.deepEqual(entries.find(({ path }) => path === "/link")?.target, "/src");
    const resolve = (path: string) => scene.backend.resolve(path, reach);
    assert.deepEqual(
      [await resolve("/link/again"), await resolve("/link/new/file"), await resolve("/src/a.txt"), await resolve("/")],
      ["/src/a.txt", "/src/new/file", "/src/a.txt", "/"],
    );
  });

  test("its root may be the root of the disk", async () => {
    await using scene = await Scene.make();
    scene.link("link", `${"../".repeat(40)}${scene.inside("src/a.txt").slice(1)}`);
    for (const confinement of ["descriptors", "checks"] as const) {
      const backend = directoryBackend({ root: "/", confinement });
      assert.equal((await backend.stat(scene.inside("link"), reach))?.size, 6);
      assert.equal(await backend.resolve(scene.inside("link"), reach), scene.inside("src/a.txt"));
    }
  });

  test("it reports how it is confined", async () => {
    await using scene = await Scene.make();
    assert.equal(await scene.backend.confinement(), process.platform === "linux" ? "descriptors" : "checks");
  });

  test("nothing stays open", { skip: process.platform !== "linux" }, async () => {
    await using scene = await Scene.make();
    scene.link("link", "src");
    const everything = async () => {
      await scene.read("/link/a.txt");
      await scene.write("/x/y/z.txt", "x");
      await scene.list("/link");
      await scene.glob("**");
      await scene.grep("inside");
      await scene.delete("/x");
      for (const path of ["/none", "/src/a.txt/below", "/src", "/link/none/x"]) await outcome(scene.read(path));
      await outcome(scene.write("/src", "x"));
      await outcome(scene.write("/src/a.txt", "x", "no such version"));
      for await (const _ of scene.backend.glob({ pattern: "**", path: "/" }, reach)) break;
      for await (const _ of scene.backend.grep({ pattern: "i", path: "/", regex: true, ignoreCase: false }, reach))
        break;
    };
    await everything();
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    for (let turn = 0; turn < 10; turn++) await everything();
    assert.ok(open() <= before + 2, `${open()} are open, ${before} were`);
  });

  test("contents and modes survive a write that fails", async () => {
    await using scene = await Scene.make();
    async function* broken() {
      yield new Uint8Array(1_000_000);
      throw new Error("gone");
    }
    await assert.rejects(scene.backend.write("/src/a.txt", broken(), {}, reach), /gone/);
    assert.equal(await readFile(scene.inside("src/a.txt"), "utf8"), "inside");
    assert.deepEqual(readdirSync(scene.inside("src")), ["a.txt"]);
    await writeFile(scene.inside("src/a.txt"), "still writable");
  });
});
