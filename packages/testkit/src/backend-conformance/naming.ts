import assert from "node:assert/strict";
import { type BackendCheck } from "./files.ts";

/** Valid names that careless code takes for something else. */
const NAMES = [
  "[...slug].ts",
  "[id]",
  "(group)",
  "{a,b}",
  "*",
  "**",
  "a?b",
  "!not",
  "#hash",
  "~",
  "-rf",
  "--pattern",
  " leading and trailing ",
  ".hidden",
  "...",
  "..a",
  "a..",
  "%2e%2e",
  "%2F",
  "C:",
  "．．",
  "a／b",
  "😀 👩‍👩‍👧‍👧",
  "naïve",
  "日本語",
  "עברית",
  "$HOME",
  "$(id)",
  "`id`",
  "'quote\"",
  "a;b|c&d",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "con",
  "file:",
  "x".repeat(255),
  "é".repeat(120),
];

export function naming(check: BackendCheck): void {
  check("any valid name works, for files and for directories", async (files) => {
    for (const [at, name] of NAMES.entries()) {
      await files.write(`/names/${name}`, `file ${at}`);
      await files.write(`/folders/${name}/inside`, `folder ${at}`);
    }
    for (const [at, name] of NAMES.entries()) {
      assert.equal(await files.text(`/names/${name}`), `file ${at}`);
      assert.equal(await files.text(`/folders/${name}/inside`), `folder ${at}`);
      assert.deepEqual(await files.glob("*", `/folders/${name}`), [`/folders/${name}/inside`]);
      assert.deepEqual(await files.hits("folder", { path: `/folders/${name}` }), [
        `/folders/${name}/inside:1:folder ${at}`,
      ]);
    }
    const listed = (await files.list("/names")).map(({ path }) => path);
    assert.deepEqual(listed.toSorted(), NAMES.map((name) => `/names/${name}`).toSorted());
    const found = await files.glob("**", "/names");
    assert.deepEqual(found, listed.toSorted());
    const hits = await files.hits("file", { path: "/names" });
    assert.deepEqual(hits, NAMES.map((name, at) => `/names/${name}:1:file ${at}`).toSorted());
    for (const name of NAMES) await files.delete(`/names/${name}`);
    assert.deepEqual(await files.glob("names/**"), []);
  });

  check("a name with a composed letter can be read under the name that a list returns", async (files) => {
    await files.write("/caf\u00e9", "composed");
    const listed = (await files.list("/")).map(({ path }) => path);
    assert.equal(await files.text(listed[0]!), "composed");
  });
}
