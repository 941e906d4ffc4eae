import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CinchError } from "@cinch/core";
import { compositeBackend, FileError, memoryBackend, type Backend } from "@cinch/workspace";
import { reach } from "../temporary-folder.ts";

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

async function* content(text: string) {
  yield new TextEncoder().encode(text);
}

const files = (backend: Backend) => ({
  text: async (path: string) => Buffer.concat(await all(backend.read(path, {}, reach))).toString("utf8"),
  names: async (path: string) => (await backend.list(path, reach)).map((one) => `${one.path} ${one.type}`).toSorted(),
  glob: async (pattern: string, path = "/") =>
    (await all(backend.glob({ pattern, path }, reach))).map((one) => one.path).toSorted(),
  grep: async (pattern: string, path = "/", glob?: string) => {
    const query = { pattern, path, regex: false, ignoreCase: false, ...(glob !== undefined && { glob }) };
    return (await all(backend.grep(query, reach))).map((one) => `${one.path}:${one.text}`).toSorted();
  },
});

/** The notes that `made` lists. */
const everything = [
  "/a.md",
  "/far/away/five.md",
  "/memories/deep/two.md",
  "/memories/one.md",
  "/memories/team/three.md",
  "/notes/x.md",
];

const problem = (name: string, path: string) => (error: unknown) => {
  assert.ok(error instanceof FileError);
  assert.deepEqual([error.problem, error.path], [name, path]);
  assert.ok(error.message.startsWith(path), error.message);
  return true;
};

describe("a composite", () => {
  const made = () => {
    const parts = {
      rest: memoryBackend({ "/a.md": "find me", "/memories/hidden.md": "find me", "/notes/x.md": "find me" }),
      memories: memoryBackend({ "/one.md": "find me", "/deep/two.md": "find me" }),
      team: memoryBackend({ "/three.md": "find me", "/.gitignore": "skip/", "/skip/four.md": "find me" }),
      far: memoryBackend({ "/five.md": "find me" }),
    };
    const routes = { "/memories/": parts.memories, "/memories/team": parts.team, "/far/away/": parts.far };
    return { ...parts, backend: compositeBackend({ default: parts.rest, routes }) };
  };

  test("a path belongs to the longest matching route, and whole names are compared", async () => {
    const { backend, team, memories, rest } = made();
    for (const path of ["/memories/team/new", "/memories/team-not/new", "/memoriesnot"])
      await backend.write(path, content(path), {}, reach);
    assert.equal(await files(team).text("/new"), "/memories/team/new");
    assert.equal(await files(memories).text("/team-not/new"), "/memories/team-not/new");
    assert.equal(await files(rest).text("/memoriesnot"), "/memoriesnot");
  });

  test("routes and the directories above them are listed as directories", async () => {
    const { names } = files(made().backend);
    assert.deepEqual(await names("/"), ["/a.md file", "/far directory", "/memories directory", "/notes directory"]);
    assert.deepEqual(await names("/far"), ["/far/away directory"]);
    assert.deepEqual(await names("/far/away"), ["/far/away/five.md file"]);
    assert.deepEqual(await names("/memories"), [
      "/memories/deep directory",
      "/memories/one.md file",
      "/memories/team directory",
    ]);
    const { backend } = made();
    for (const path of ["/far", "/far/away", "/memories"])
      assert.equal((await backend.stat(path, reach))?.type, "directory");
  });

  test("files of the outer backend below a route are hidden", async () => {
    const { backend } = made();
    assert.equal(await backend.stat("/memories/hidden.md", reach), null);
    assert.deepEqual(await files(backend).glob("**/hidden.md"), []);
    assert.deepEqual(await files(backend).grep("find", "/memories", "hidden.md"), []);
  });

  test("glob searches all backends with one pattern", async () => {
    const { glob } = files(made().backend);
    assert.deepEqual(await glob("**/*.md"), everything);
    assert.deepEqual(await glob("*/*.md"), ["/memories/one.md", "/notes/x.md"]);
    assert.deepEqual(await glob("memories/**"), [
      "/memories/deep/two.md",
      "/memories/one.md",
      "/memories/team/.gitignore",
      "/memories/team/three.md",
    ]);
    assert.deepEqual(await glob("**/team/*.md"), ["/memories/team/three.md"]);
    assert.deepEqual(await glob("{far/away,notes}/*"), ["/far/away/five.md", "/notes/x.md"]);
    assert.deepEqual(await glob("**/*.md", "/far"), ["/far/away/five.md"]);
    assert.deepEqual(await glob("/memories/*.md", "/memories"), ["/memories/one.md"]);
    assert.deepEqual(await glob("f*/*/five.md"), ["/far/away/five.md"]);
  });

  test("an ignored folder is found by a query that names it, also below a route", async () => {
    const { glob, grep } = files(made().backend);
    assert.deepEqual(await glob("memories/team/skip/*"), ["/memories/team/skip/four.md"]);
    assert.deepEqual(await glob("**/skip/*.md"), ["/memories/team/skip/four.md"]);
    assert.deepEqual(await grep("find", "/memories/team/skip"), ["/memories/team/skip/four.md:find me"]);
  });

  test("grep searches all backends", async () => {
    const { grep } = files(made().backend);
    assert.deepEqual(
      await grep("find"),
      everything.map((path) => `${path}:find me`),
    );
    assert.deepEqual(await grep("find", "/far"), ["/far/away/five.md:find me"]);
    assert.deepEqual(await grep("find", "/", "five.md"), ["/far/away/five.md:find me"]);
    assert.deepEqual(await grep("find", "/", "far/**"), ["/far/away/five.md:find me"]);
    assert.deepEqual(await grep("find", "/memories", "/memories/team/*"), ["/memories/team/three.md:find me"]);
    assert.deepEqual(await grep("find", "/memories", "team/*"), ["/memories/team/three.md:find me"]);
    assert.deepEqual(await grep("find", "/memories/team", "/memories/team/*"), ["/memories/team/three.md:find me"]);
  });

  test("neither a route nor a directory above it can be deleted or written as a file", async () => {
    const { backend } = made();
    for (const path of ["/memories", "/memories/team", "/far", "/far/away", "/"])
      await assert.rejects(backend.delete(path, reach), problem("denied", path));
    for (const path of ["/memories", "/far", "/far/away"])
      await assert.rejects(backend.write(path, content("x"), {}, reach), problem("is_a_directory", path));
    await backend.delete("/memories/deep", reach);
    assert.deepEqual(await files(backend).glob("memories/deep/**"), []);
  });

  test("errors have the path that the caller used", async () => {
    const { backend } = made();
    await assert.rejects(files(backend).text("/memories/none.md"), problem("not_found", "/memories/none.md"));
    await assert.rejects(backend.list("/memories/team/none", reach), problem("not_found", "/memories/team/none"));
    await assert.rejects(files(backend).text("/far"), problem("is_a_directory", "/far"));
  });

  test("invalid and duplicate routes are refused", () => {
    const invalid = (routes: Record<string, Backend>) =>
      assert.throws(
        () => compositeBackend({ default: memoryBackend(), routes }),
        (error) => error instanceof CinchError && error.code === "INVALID_CONFIG",
      );
    for (const path of ["/", "memories", "", "/../x", "/a\0"]) invalid({ [path]: memoryBackend() });
    invalid({ "/a": memoryBackend(), "/a/": memoryBackend() });
  });

  test("closing it closes each backend once", async () => {
    const closed: string[] = [];
    const part = (name: string) => Object.assign(memoryBackend(), { close: async () => void closed.push(name) });
    const [one, two] = [part("one"), part("two")];
    await compositeBackend({ default: one, routes: { "/a": two, "/b": two } }).close!();
    assert.deepEqual(closed.toSorted(), ["one", "two"]);
  });
});
