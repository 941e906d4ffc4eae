import assert from "node:assert/strict";
import { all, type Check, rejects } from "./sample.ts";

/** What undo needs: a look at everything, and deletions that depend on what is there. */
export function picturing(check: Check): void {
  check("a file is deleted only if it is still of the version that is given", async (files) => {
    const { version } = await files.write("/a", "one");
    await files.write("/a", "two");
    await rejects(files.backend.delete("/a", files.reach, { ifVersion: version }), "changed");
    assert.equal(await files.text("/a"), "two");
    await rejects(files.backend.delete("/none", files.reach, { ifVersion: version }), "changed");
    const now = await files.stat("/a");
    await files.backend.delete("/a", files.reach, { ifVersion: now!.version });
    assert.equal(await files.stat("/a"), null);
  });

  check("what has to be empty to be deleted stays if it is not", async (files) => {
    await files.writeAll({ "/full/a": "x", "/file": "y" });
    for (const path of ["/full", "/file", "/none"])
      await rejects(files.backend.delete(path, files.reach, { ifEmpty: true }), "changed");
    assert.deepEqual([await files.text("/full/a"), await files.text("/file")], ["x", "y"]);
  });

  check("a tree has every file that no ignore file excludes, with its version and contents", async (files) => {
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
