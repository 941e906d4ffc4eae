import assert from "node:assert/strict";
import { type BackendCheck, rejects } from "./files.ts";

export function listing(check: BackendCheck): void {
  check("the root of a new backend exists and is empty", async (files) => {
    assert.deepEqual([await files.list("/"), await files.glob("**"), await files.hits("x")], [[], [], []]);
  });

  check("a list has the direct children of a directory, with type, size and time", async (files) => {
    await files.writeAll({ "/docs/a.md": "four", "/docs/b/c.md": "x", "/other": "x" });
    const [file, directory] = (await files.list("/docs")).toSorted((a, b) => a.path.localeCompare(b.path));
    const { modified } = file!;
    assert.deepEqual(file, { path: "/docs/a.md", type: "file", size: 4, modified });
    assert.deepEqual([directory?.path, directory?.type, directory?.size], ["/docs/b", "directory", 0]);
    assert.ok(Math.abs(Date.now() - modified) < 60_000 && Number.isInteger(modified));
  });

  check("names with a common prefix are not confused", async (files) => {
    await files.writeAll({ "/work/a": "1", "/work-evil/b": "2", "/work.txt": "3", "/wor/c": "4" });
    assert.deepEqual(await files.names("/work"), ["/work/a file"]);
    assert.deepEqual(
      [await files.glob("**", "/work"), await files.hits("", { path: "/work" })],
      [["/work/a"], ["/work/a:1:1"]],
    );
  });

  check("a missing path can't be listed, nor can a file", async (files) => {
    await files.write("/a", "x");
    await rejects(files.list("/none"), "not_found");
    await rejects(files.list("/none/below"), "not_found");
    await rejects(files.list("/a"), "not_a_directory");
    await rejects(files.list("/a/below"), "not_found");
  });

  check("a directory with many files is listed completely", async (files) => {
    const paths = Array.from({ length: 300 }, (_, at) => `/many/${at}.txt`);
    for (let at = 0; at < paths.length; at += 10)
      await Promise.all(paths.slice(at, at + 10).map((path) => files.write(path, "x")));
    const listed = (await files.list("/many")).map(({ path }) => path);
    assert.deepEqual(listed.toSorted(), paths.toSorted());
  });

  check("a tree of a hundred levels is written, found, read and deleted", async (files) => {
    const deep = `/deep${"/x".repeat(100)}/file.txt`;
    await files.write(deep, "found");
    assert.equal(await files.text(deep), "found");
    assert.deepEqual([await files.glob("deep/**/file.txt"), await files.hits("found")], [[deep], [`${deep}:1:found`]]);
    await files.delete("/deep/x");
    assert.equal(await files.stat(deep), null);
  });
}
