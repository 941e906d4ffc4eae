import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { directoryBackend, memoryBackend, type Backend } from "@cinch/workspace";
import { withByteOrderMarks } from "../../src/search/line-starts.ts";
import { reach, TemporaryFolder } from "../temporary-folder.ts";

const MARKED = "\ufeffusing A;\r\n\r\nusing B;\r\n";

async function linesOf(backend: Backend, pattern: string): Promise<number[]> {
  const found: number[] = [];
  const query = { pattern, path: "/", regex: true, ignoreCase: false };
  for await (const { line } of backend.grep(query, reach)) found.push(line);
  return found;
}

test("the first line of a file begins behind the byte order mark", async () => {
  await using root = await TemporaryFolder.make();
  await writeFile(root.at("a.cs"), MARKED);
  for (const backend of [directoryBackend({ root: root.path }), memoryBackend({ "/a.cs": MARKED })]) {
    assert.deepEqual(await linesOf(backend, "^using"), [1, 3]);
    assert.deepEqual(await linesOf(backend, "(^u|^x)sing [^B]"), [1]);
    assert.deepEqual(await linesOf(backend, "^$"), [2]);
    assert.deepEqual(await linesOf(backend, "[]^u]sing A"), [1]);
    // An error is about the pattern that was given.
    await assert.rejects(linesOf(backend, "^(a"), /\(\?:\^\(a\)\n[^]*unclosed group/);
  }
});

test("only what means the start of a line is changed in a pattern", () => {
  for (const same of ["a", String.raw`\^`, "[^a]", "[]^]", "[^]^]", "[a[^b]^]", String.raw`\x{5e}\\[\]^]`])
    assert.equal(withByteOrderMarks(same), same);
  assert.equal(withByteOrderMarks(String.raw`[a]^\\^`), String.raw`[a](?:^\x{FEFF}?)\\(?:^\x{FEFF}?)`);
});
