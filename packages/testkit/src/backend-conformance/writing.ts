import assert from "node:assert/strict";
import { all, type BackendCheck, rejects, streamOf } from "./files.ts";

export function writing(check: BackendCheck): void {
  check("a write creates missing directories", async (files) => {
    await files.write("/a/b/c/d.txt", "deep");
    assert.equal(await files.text("/a/b/c/d.txt"), "deep");
    assert.deepEqual(await files.names("/a"), ["/a/b directory"]);
  });

  check("a write returns the same as stat", async (files) => {
    const written = await files.write("/src/a.ts", "content");
    assert.deepEqual(await files.stat("/src/a.ts"), written);
  });

  check("a write replaces the whole contents, even with shorter ones", async (files) => {
    await files.write("/a", "a long text");
    await files.write("/a", "short");
    assert.equal(await files.text("/a"), "short");
  });

  check("contents may have any number of chunks, including empty ones", async (files) => {
    const content = streamOf("a", "", "b", new Uint8Array(), "c");
    await files.backend.write("/a", content, {}, files.reach);
    assert.equal(await files.text("/a"), "abc");
  });

  check("the caller may reuse the memory of a chunk", async (files) => {
    // `slice` of a Buffer shares its memory; that of a Uint8Array copies it.
    for (const buffer of [new Uint8Array(3), Buffer.alloc(3)]) {
      async function* content() {
        for (const letter of "abc") {
          buffer.fill(letter.charCodeAt(0));
          yield buffer;
        }
        buffer.fill(0);
      }
      await files.backend.write("/a", content(), {}, files.reach);
      for (const chunk of await all(files.backend.read("/a", {}, files.reach))) chunk.fill(0);
      assert.equal(await files.text("/a"), "aaabbbccc");
    }
  });

  check("a write whose contents fail changes nothing", async (files) => {
    async function* broken() {
      yield new TextEncoder().encode("half");
      throw new Error("the source is gone");
    }
    await files.write("/a", "old");
    const before = await files.stat("/a");
    await assert.rejects(files.backend.write("/a", broken(), {}, files.reach), /the source is gone/);
    await assert.rejects(files.backend.write("/new/b", broken(), {}, files.reach), /the source is gone/);
    assert.deepEqual([await files.text("/a"), await files.stat("/a")], ["old", before]);
    assert.deepEqual([await files.stat("/new/b"), await files.names("/")], [null, ["/a file"]]);
    assert.deepEqual([await files.glob("**"), await files.hits("half")], [["/a"], []]);
  });

  check("while a file is written, readers see the old contents", async (files) => {
    await files.write("/a", "old");
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    async function* slow() {
      yield new TextEncoder().encode("new ");
      see();
      await new Promise((resolve) => setTimeout(resolve, 30));
      yield new TextEncoder().encode("contents");
    }
    const written = files.backend.write("/a", slow(), {}, files.reach);
    await seen;
    assert.deepEqual([await files.text("/a"), await files.names("/")], ["old", ["/a file"]]);
    await written;
    assert.equal(await files.text("/a"), "new contents");
  });

  check("a directory can't be written, nor can anything below a file", async (files) => {
    await files.write("/docs/a.md", "x");
    await rejects(files.write("/docs", "x"), "is_a_directory");
    await rejects(files.write("/", "x"), "is_a_directory");
    await rejects(files.write("/docs/a.md/b", "x"), "not_a_directory");
    await rejects(files.write("/docs/a.md/b/c", "x"), "not_a_directory");
    assert.equal(await files.text("/docs/a.md"), "x");
  });

  check("concurrent writes of one file leave the complete contents of one of them", async (files) => {
    const contents = Array.from({ length: 16 }, (_, at) => String.fromCharCode(97 + at).repeat(50_000));
    await Promise.all(contents.map((content) => files.write("/a", content)));
    assert.ok(contents.includes(await files.text("/a")));
    assert.deepEqual(await files.names("/"), ["/a file"]);
  });

  check("many files can be written at once into directories that do not exist yet", async (files) => {
    const paths = Array.from({ length: 40 }, (_, at) => `/new/${at % 4}/${at % 8}/${at}.txt`);
    await Promise.all(paths.map((path) => files.write(path, path)));
    for (const path of paths) assert.equal(await files.text(path), path);
    assert.deepEqual(await files.glob("new/**"), paths.toSorted());
  });
}
