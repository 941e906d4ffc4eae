import assert from "node:assert/strict";
import { type BackendCheck, rejects } from "./files.ts";

export function deleting(check: BackendCheck): void {
  check("a deletion removes the file and not its siblings", async (files) => {
    await files.writeAll({ "/gone/a": "x", "/gone/b": "y" });
    await files.delete("/gone/a");
    assert.deepEqual([await files.stat("/gone/a"), await files.names("/gone")], [null, ["/gone/b file"]]);
    await rejects(files.text("/gone/a"), "not_found");
  });

  check("a directory is deleted with everything in it, and nothing else", async (files) => {
    await files.writeAll({
      "/gone/a": "x",
      "/gone/b/c/d": "y",
      "/gone/.hidden/e": "z",
      "/gone-not/f": "kept",
      "/gone.txt": "kept",
    });
    await files.delete("/gone");
    assert.deepEqual(await files.glob("**"), ["/gone-not/f", "/gone.txt"]);
    assert.equal(await files.stat("/gone"), null);
  });

  check("a path that does not exist can't be deleted", async (files) => {
    await files.write("/a", "x");
    await rejects(files.delete("/none"), "not_found");
    await rejects(files.delete("/none/below"), "not_found");
    await rejects(files.delete("/a/below"), "not_found", "not_a_directory");
    await files.delete("/a");
    await rejects(files.delete("/a"), "not_found");
  });

  check("the root can't be deleted", async (files) => {
    await files.write("/a", "x");
    await rejects(files.delete("/"), "denied");
    assert.equal(await files.text("/a"), "x");
  });

  check("a file can replace a deleted directory, and a directory a deleted file", async (files) => {
    await files.write("/thing/inside", "x");
    await files.delete("/thing");
    await files.write("/thing", "a file now");
    assert.equal(await files.text("/thing"), "a file now");
    await files.delete("/thing");
    await files.write("/thing/inside", "again");
    assert.equal(await files.text("/thing/inside"), "again");
  });

  check(
    "of five concurrent deletions of a file at least one succeeds, and the others succeed or fail with not_found",
    async (files) => {
      await files.write("/a", "x");
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => files.delete("/a")));
      const failures = results.flatMap((result) =>
        result.status === "rejected" ? [result.reason.problem as string] : [],
      );
      assert.ok(failures.length < 5 && failures.every((problem) => problem === "not_found"), failures.join());
      assert.equal(await files.stat("/a"), null);
    },
  );
}
