import assert from "node:assert/strict";
import { all, type Check, rejects, streamOf } from "./sample.ts";

export function writing(check: Check): void {
  check("a write makes the directories above", async (files) => {
    await files.write("/a/b/c/d.txt", "deep");
    assert.equal(await files.text("/a/b/c/d.txt"), "deep");
    assert.deepEqual(await files.names("/a"), ["/a/b directory"]);
  });

  check("a write gives back what stat says", async (files) => {
    const written = await files.write("/src/a.ts", "content");
    assert.deepEqual(await files.stat("/src/a.ts"), written);
  });

  check("a write replaces the whole contents, also longer ones", async (files) => {
    await files.write("/a", "a long text");
    await files.write("/a", "short");
    assert.equal(await files.text("/a"), "short");
  });

  check("contents come in any number of chunks, empty ones too", async (files) => {
    const content = streamOf("a", "", "b", new Uint8Array(), "c");
    await files.backend.write("/a", content, {}, files.reach);
    assert.equal(await files.text("/a"), "abc");
  });

  check("chunks may be used again by who gave them", async (files) => {
    // `slice` of a Buffer gives the same memory again, other than that of an array of bytes.
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

  check("contents that break off change nothing", async (files) => {
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

  check("while a file is written, readers see the old one", async (files) => {
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

  check("many writes of one file at once leave one of them, whole", async (files) => {
    const contents = Array.from({ length: 16 }, (_, at) => String.fromCharCode(97 + at).repeat(50_000));
    await Promise.all(contents.map((content) => files.write("/a", content)));
    assert.ok(contents.includes(await files.text("/a")));
    assert.deepEqual(await files.names("/"), ["/a file"]);
  });

  check("many files are written at once into directories that are not there yet", async (files) => {
    const paths = Array.from({ length: 40 }, (_, at) => `/new/${at % 4}/${at % 8}/${at}.txt`);
    await Promise.all(paths.map((path) => files.write(path, path)));
    for (const path of paths) assert.equal(await files.text(path), path);
    assert.deepEqual(await files.glob("new/**"), paths.toSorted());
  });
}
