import assert from "node:assert/strict";
import { type Check, rejects } from "./sample.ts";

const kinds = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === "fulfilled" ? "written" : (result.reason.problem as string))).toSorted();

export function conditions(check: Check): void {
  check("a file of the expected version is replaced, one of another is not", async (files) => {
    const first = await files.write("/a", "one");
    const second = await files.write("/a", "two", first.version);
    await rejects(files.write("/a", "three", first.version), "changed");
    assert.deepEqual([await files.text("/a"), (await files.stat("/a"))?.version], ["two", second.version]);
  });

  check("a file that must not be there is made only if it is not", async (files) => {
    await files.write("/src/a", "first", null);
    await rejects(files.write("/src/a", "second", null), "changed");
    assert.equal(await files.text("/src/a"), "first");
  });

  check("a file that is gone is of no version", async (files) => {
    const { version } = await files.write("/a", "one");
    await files.delete("/a");
    await rejects(files.write("/a", "two", version), "changed");
    assert.equal(await files.stat("/a"), null);
    await files.write("/a", "three", null);
    await rejects(files.write("/a", "four", version), "changed");
  });

  check("a condition that fails does not read the contents, and makes nothing", async (files) => {
    let asked = false;
    async function* content() {
      asked = true;
      yield new Uint8Array(1);
    }
    await rejects(files.backend.write("/x/y/z", content(), { ifVersion: "no such version" }, files.reach), "changed");
    assert.deepEqual([asked, await files.names("/")], [false, []]);
  });

  check("of ten writes that depend on the same version exactly one wins", async (files) => {
    const { version } = await files.write("/a", "start");
    const attempts = Array.from({ length: 10 }, (_, at) => files.write("/a", `attempt ${at}`, version));
    const results = await Promise.allSettled(attempts);
    assert.deepEqual(kinds(results), [...Array<string>(9).fill("changed"), "written"]);
    const winner = results.findIndex(({ status }) => status === "fulfilled");
    assert.equal(await files.text("/a"), `attempt ${winner}`);
  });

  check("of ten writes that need the file not to be there exactly one wins", async (files) => {
    const attempts = Array.from({ length: 10 }, (_, at) => files.write("/new/folder/a", `attempt ${at}`, null));
    const results = await Promise.allSettled(attempts);
    assert.deepEqual(kinds(results), [...Array<string>(9).fill("changed"), "written"]);
  });

  check(
    "writes in quick succession all have versions of their own, also with contents of one length",
    async (files) => {
      const versions = new Set<string>();
      for (let at = 0; at < 60; at++) versions.add((await files.write("/a", `text ${at % 10}`)).version);
      assert.equal(versions.size, 60);
    },
  );

  check("a chain of writes, each on the version of the last, loses none", async (files) => {
    let { version } = await files.write("/count", "0");
    for (let at = 1; at <= 20; at++) ({ version } = await files.write("/count", `${at}`, version));
    assert.equal(await files.text("/count"), "20");
  });

  check("the version that is compared is the one at the end of the contents", async (files) => {
    const { version } = await files.write("/a", "old");
    async function* slow() {
      yield new TextEncoder().encode("late");
      await files.write("/a", "somebody else's");
    }
    await rejects(files.backend.write("/a", slow(), { ifVersion: version }, files.reach), "changed");
    assert.equal(await files.text("/a"), "somebody else's");
  });
}
