import assert from "node:assert/strict";
import { FileError } from "@cinch/workspace";
import { all, utf8, type BackendCheck, rejects } from "./files.ts";

/** What undo needs: the state of all files, and writes and deletions that depend on it. */
export function undo(check: BackendCheck): void {
  check("a file is deleted only if it has the expected version", async (files) => {
    const { version } = await files.write("/a", "one");
    await files.write("/a", "two");
    await rejects(files.backend.delete("/a", files.reach, { ifVersion: version }), "changed");
    assert.equal(await files.text("/a"), "two");
    await rejects(files.backend.delete("/none", files.reach, { ifVersion: version }), "changed");
    const now = await files.stat("/a");
    await files.backend.delete("/a", files.reach, { ifVersion: now!.version });
    assert.equal(await files.stat("/a"), null);
  });

  check("with ifEmpty, a file or a directory with contents is not deleted", async (files) => {
    await files.writeAll({ "/full/a": "x", "/file": "y" });
    for (const path of ["/full", "/file", "/none"])
      await rejects(files.backend.delete(path, files.reach, { ifEmpty: true }), "changed");
    assert.deepEqual([await files.text("/full/a"), await files.text("/file")], ["x", "y"]);
  });

  check("a directory that contains only directories counts as empty", async (files) => {
    const { backend, reach } = files;
    await files.writeAll({ "/top/a/b/file": "x", "/top/c/file": "y" });
    for (const path of ["/top/a/b/file", "/top/c/file"]) {
      await rejects(backend.delete("/top", reach, { ifEmpty: true }), "changed");
      await backend.delete(path, reach);
    }
    // Not every backend has empty directories.
    if (await files.stat("/top")) await backend.delete("/top", reach, { ifEmpty: true });
    assert.equal(await files.stat("/top"), null);
  });

  check("look reports what is at each path, or what blocks it", async (files) => {
    const { backend, reach } = files;
    if (!backend.look) return;
    await files.writeAll({ "/file": "x", "/top/deep/other": "yy" });
    const paths = ["/file", "/file/below/it", "/top", "/top/deep/other", "/none", "/top/none/at/all"];
    const seen: Record<string, unknown> = {};
    for await (const sight of backend.look(paths, { ...reach, direct: true })) {
      if (sight.kind !== "file") seen[sight.path] = "by" in sight ? `${sight.kind} by ${sight.by}` : sight.kind;
      else {
        const text = Buffer.concat(await all(sight.file.contents())).toString("utf8");
        seen[sight.path] = [text, sight.file.version === (await files.stat(sight.path))?.version];
      }
    }
    assert.deepEqual(seen, {
      "/file": ["x", true],
      "/file/below/it": "blocked by /file",
      "/top": "directory",
      "/top/deep/other": ["yy", true],
      "/none": "nothing",
      "/top/none/at/all": "nothing",
    });
  });

  check("inside lists the files of a directory at any depth", async (files) => {
    const { backend, reach } = files;
    if (!backend.inside) return;
    await files.writeAll({ "/top/a/b/file": "x", "/top/.git/config": "y", "/other": "z" });
    assert.deepEqual((await all(backend.inside("/top", reach))).toSorted(), ["/top/.git/config", "/top/a/b/file"]);
  });

  check("writeAll writes and deletes many files, each only if it has the expected version", async (files) => {
    const { backend, reach } = files;
    if (!backend.writeAll) return;
    await files.writeAll({ "/old/a": "1", "/old/b": "1", "/old/c": "1", "/old/d": "1" });
    const version = async (path: string) => (await files.stat(path))!.version;
    const stale = await version("/old/d");
    await files.write("/old/d", "2");
    const errors = await backend.writeAll(
      [
        { path: "/old/a", ifVersion: await version("/old/a"), content: utf8("new") },
        { path: "/old/b", ifVersion: await version("/old/b"), content: null },
        { path: "/old/c", ifVersion: null, content: utf8("new") },
        { path: "/old/d", ifVersion: stale, content: null },
        { path: "/new/er/e", ifVersion: null, content: utf8("new") },
        { path: "/new/er/f", ifVersion: null, content: utf8("") },
        { path: "/none", ifVersion: stale, content: utf8("new") },
      ],
      { ...reach, direct: true },
    );
    const problems = errors.map((error) => (error instanceof FileError ? error.problem : error));
    assert.deepEqual(problems, [null, null, "changed", "changed", null, null, "changed"]);
    assert.deepEqual(
      await Promise.all(["/old/a", "/old/c", "/old/d", "/new/er/e", "/new/er/f"].map((path) => files.text(path))),
      ["new", "1", "2", "new", ""],
    );
    assert.deepEqual([await files.stat("/old/b"), await files.stat("/none")], [null, null]);
  });

  check("tree has every file that no ignore file excludes, with its version and contents", async (files) => {
    const { backend, reach } = files;
    if (!backend.tree) return;
    await files.writeAll({
      "/.gitignore": "*.log\n/build/\n",
      "/a.txt": "a",
      "/deep/er/b.txt": "bb",
      "/empty": "",
      "/x.log": "x",
      "/build/out": "x",
      "/node_modules/m/index.js": "x",
      "/.git/config": "x",
    });
    const found: Record<string, string> = {};
    for await (const { path, version, size, contents } of backend.tree(reach)) {
      const bytes = Buffer.concat(await all(contents()));
      found[path] = bytes.toString("utf8");
      assert.deepEqual([version, size], [(await files.stat(path))?.version, bytes.length], path);
    }
    assert.deepEqual(found, { "/.gitignore": "*.log\n/build/\n", "/a.txt": "a", "/deep/er/b.txt": "bb", "/empty": "" });
  });
}
