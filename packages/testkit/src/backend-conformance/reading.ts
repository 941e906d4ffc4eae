import assert from "node:assert/strict";
import { all, type BackendCheck, rejects } from "./files.ts";

export function reading(check: BackendCheck): void {
  check("a read returns exactly the bytes that were written", async (files) => {
    const content = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
    await files.write("/data.bin", content);
    assert.deepEqual(await files.bytes("/data.bin"), Buffer.from(content));
  });

  check("an empty file exists, and is read as nothing", async (files) => {
    await files.write("/empty", "");
    assert.equal((await files.stat("/empty"))?.size, 0);
    assert.equal(await files.text("/empty"), "");
  });

  check("a range returns the bytes from its start up to its end", async (files) => {
    await files.write("/src/digits", "0123456789");
    const ranges = [{ start: 0, end: 3 }, { start: 3, end: 4 }, { start: 8 }, { end: 2 }, { start: 9, end: 10 }, {}];
    const read = await Promise.all(ranges.map((range) => files.text("/src/digits", range)));
    assert.deepEqual(read, ["012", "3", "89", "01", "9", "0123456789"]);
  });

  check("a range beyond the end is cut off there, and an empty one returns nothing", async (files) => {
    await files.write("/digits", "0123456789");
    const ranges = [
      { start: 8, end: 99 },
      { start: 10 },
      { start: 99 },
      { start: 99, end: 120 },
      { start: 5, end: 5 },
      { start: 7, end: 2 },
    ];
    const read = await Promise.all(ranges.map((range) => files.text("/digits", range)));
    assert.deepEqual(read, ["89", "", "", "", "", ""]);
  });

  check("a range across the chunks of a large file is read without gaps", async (files) => {
    const content = Buffer.alloc(1_000_003, "0123456789abcdef\n");
    await files.write("/large", content);
    for (const [start, end] of [
      [65_530, 65_550],
      [262_100, 262_200],
      [131_072, 131_073],
      [999_990, 1_000_003],
    ] as const)
      assert.deepEqual(await files.bytes("/large", { start, end }), content.subarray(start, end));
  });

  check("a range with a negative or fractional number is invalid", async (files) => {
    await files.write("/a", "x");
    for (const range of [{ start: -1 }, { end: -1 }, { start: 0.5 }, { start: Number.NaN }])
      await rejects(files.text("/a", range), "invalid");
  });

  check("a missing file can't be read, nor can a directory", async (files) => {
    await files.write("/docs/a.md", "x");
    await rejects(files.text("/none"), "not_found");
    await rejects(files.text("/docs/none.md"), "not_found");
    await rejects(files.text("/docs/a.md/below"), "not_found");
    await rejects(files.text("/docs"), "is_a_directory");
    await rejects(files.text("/"), "is_a_directory");
  });

  check("a reader that stops early leaves no file open", async (files) => {
    await files.write("/large", Buffer.alloc(2_000_000, "x"));
    for (let turn = 0; turn < 20; turn++) {
      for await (const chunk of files.backend.read("/large", {}, files.reach)) {
        assert.ok(chunk.length > 0);
        break;
      }
    }
    await files.delete("/large");
  });

  check("a reader that changes its bytes does not change the file", async (files) => {
    await files.write("/a", "untouched");
    for (const chunk of await all(files.backend.read("/a", {}, files.reach))) chunk.fill(0);
    assert.equal(await files.text("/a"), "untouched");
  });

  check("a reader sees one version of a file, even if it is replaced meanwhile", async (files) => {
    await files.write("/a", Buffer.alloc(1_000_000, "a"));
    let read = "";
    for await (const chunk of files.backend.read("/a", {}, files.reach)) {
      if (read === "") await files.write("/a", Buffer.alloc(1_000_000, "b"));
      read += Buffer.from(chunk).toString("latin1");
    }
    assert.equal(read, "a".repeat(1_000_000));
  });

  check("stat describes a file or directory, and is null for a missing path", async (files) => {
    const before = Date.now() - 2_000;
    await files.write("/docs/a.md", "four");
    const { mode = 0o644, ...stat } = (await files.stat("/docs/a.md"))!;
    assert.ok(Number.isInteger(mode) && mode >= 0 && mode <= 0o777);
    assert.deepEqual(
      { ...stat, modified: 0, version: "" },
      { path: "/docs/a.md", type: "file", size: 4, modified: 0, version: "" },
    );
    assert.ok(stat.modified >= before && stat.modified <= Date.now() + 2_000);
    assert.ok(stat.version.length > 0);
    const directory = await files.stat("/docs");
    assert.deepEqual([directory?.path, directory?.type, directory?.size], ["/docs", "directory", 0]);
    assert.equal((await files.stat("/"))?.type, "directory");
    assert.deepEqual(
      [await files.stat("/none"), await files.stat("/docs/none"), await files.stat("/docs/a.md/below")],
      [null, null, null],
    );
  });

  check("the version does not change while nothing is written", async (files) => {
    const written = await files.write("/a", "x");
    assert.equal((await files.stat("/a"))?.version, written.version);
    await files.text("/a");
    assert.equal((await files.stat("/a"))?.version, written.version);
  });
}
