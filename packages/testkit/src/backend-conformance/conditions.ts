import assert from "node:assert/strict";
import { type BackendCheck, rejects } from "./files.ts";

const kinds = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === "fulfilled" ? "written" : (result.reason.problem as string))).toSorted();

export function conditions(check: BackendCheck): void {
  check("a file is replaced only if it has the expected version", async (files) => {
    const first = await files.write("/a", "one");
    const second = await files.write("/a", "two", first.version);
    await rejects(files.write("/a", "three", first.version), "changed");
    assert.deepEqual([await files.text("/a"), (await files.stat("/a"))?.version], ["two", second.version]);
  });

  check("with the expected version null, a file is only created, never replaced", async (files) => {
    await files.write("/src/a", "first", null);
    await rejects(files.write("/src/a", "second", null), "changed");
    assert.equal(await files.text("/src/a"), "first");
  });

  check("a deleted file matches no version", async (files) => {
    const { version } = await files.write("/a", "one");
    await files.delete("/a");
    await rejects(files.write("/a", "two", version), "changed");
    assert.equal(await files.stat("/a"), null);
    await files.write("/a", "three", null);
    await rejects(files.write("/a", "four", version), "changed");
  });

  check("a write whose condition fails does not read its contents, and creates nothing", async (files) => {
    let isRead = false;
    async function* content() {
      isRead = true;
      yield new Uint8Array(1);
    }
    await rejects(files.backend.write("/x/y/z", content(), { ifVersion: "no such version" }, files.reach), "changed");
    assert.deepEqual([isRead, await files.names("/")], [false, []]);
  });

  check("of ten writes that expect the same version exactly one succeeds", async (files) => {
    const { version } = await files.write("/a", "start");
    const attempts = Array.from({ length: 10 }, (_, at) => files.write("/a", `attempt ${at}`, version));
    const results = await Promise.allSettled(attempts);
    assert.deepEqual(kinds(results), [...Array<string>(9).fill("changed"), "written"]);
    const written = results.findIndex(({ status }) => status === "fulfilled");
    assert.equal(await files.text("/a"), `attempt ${written}`);
  });

  check("of ten writes that expect no file exactly one succeeds", async (files) => {
    const attempts = Array.from({ length: 10 }, (_, at) => files.write("/new/folder/a", `attempt ${at}`, null));
    const results = await Promise.allSettled(attempts);
    assert.deepEqual(kinds(results), [...Array<string>(9).fill("changed"), "written"]);
  });

  check("writes in quick succession get different versions, even with contents of the same length", async (files) => {
    const versions = new Set<string>();
    for (let at = 0; at < 60; at++) versions.add((await files.write("/a", `text ${at % 10}`)).version);
    assert.equal(versions.size, 60);
  });

  check("a chain of writes, each with the version of the previous one, loses none", async (files) => {
    let { version } = await files.write("/count", "0");
    for (let at = 1; at <= 20; at++) ({ version } = await files.write("/count", `${at}`, version));
    assert.equal(await files.text("/count"), "20");
  });

  check("the version is compared after the contents have been read", async (files) => {
    const { version } = await files.write("/a", "old");
    async function* slow() {
      yield new TextEncoder().encode("late");
      await files.write("/a", "another writer's");
    }
    await rejects(files.backend.write("/a", slow(), { ifVersion: version }, files.reach), "changed");
    assert.equal(await files.text("/a"), "another writer's");
  });
}
