import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { FileError, memoryBackend, pathRules, withPolicy, type Access, type Backend } from "@cinch/workspace";
import { ruleHooks } from "../../src/path-rules/rule-hooks.ts";
import { Scene } from "../disk/attack.ts";
import { reach } from "../temporary-folder.ts";

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

async function* content(text = "x") {
  yield new TextEncoder().encode(text);
}

const denied = (work: Promise<unknown>, path: string, tell?: RegExp) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof FileError, String(error));
    assert.deepEqual([error.problem, error.path], ["denied", path]);
    if (tell) assert.match(error.message, tell);
    return true;
  });

const grep = (backend: Backend, path = "/") =>
  all(backend.grep({ pattern: "x", path, regex: false, ignoreCase: false }, reach));
const names = async (backend: Backend, path = "/") =>
  (await backend.list(path, reach)).map((entry) => entry.path).toSorted();

describe("a policy around a backend", () => {
  test("is notified of operations that succeeded, and of no others", async () => {
    const heard: Access[] = [];
    const backend = withPolicy(memoryBackend({ "/a": "x" }), { after: (access) => void heard.push(access) });
    await all(backend.read("/a", {}, reach));
    await backend.write("/b/c", content(), {}, reach);
    await backend.delete("/b", reach);
    await assert.rejects(all(backend.read("/none", {}, reach)), FileError);
    await assert.rejects(backend.delete("/none", reach), FileError);
    for await (const _ of backend.read("/a", {}, reach)) break;
    assert.deepEqual(heard, [
      { operation: "read", path: "/a" },
      { operation: "write", path: "/b/c" },
      { operation: "delete", path: "/b" },
      { operation: "read", path: "/a" },
    ]);
  });

  test("is called before the operation, and its reason is in the error", async () => {
    const backend = withPolicy(memoryBackend({ "/a": "x", "/b": "x" }), {
      before: async ({ operation, path }) => (path === "/a" && operation !== "list" ? `not ${operation}.` : undefined),
    });
    let asked = false;
    async function* never() {
      asked = true;
      yield new Uint8Array();
    }
    await denied(all(backend.read("/a", {}, reach)), "/a", /not read\./);
    await denied(backend.write("/a", never(), {}, reach), "/a", /not write\./);
    await denied(backend.delete("/a", reach), "/a", /not delete\./);
    await denied(grep(backend, "/a"), "/a");
    assert.equal(asked, false);
    assert.deepEqual(
      (await grep(backend)).map(({ path }) => path),
      ["/b"],
    );
    assert.deepEqual(await names(backend), ["/b"]);
  });
});

describe("path rules around a backend", () => {
  const rules = pathRules([
    { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
    { operations: ["write"], paths: ["/repo/**/.env*"], mode: "deny" },
    { operations: ["read"], paths: ["**/*.pem"], mode: "deny" },
  ]);
  const tree = { "/secret/a": "x", "/repo/.env": "x", "/repo/src/b": "x", "/repo/keys/c.pem": "x", "/d": "x" };

  test("files that must not be read are not read, listed, found or searched", async () => {
    const backend = withPolicy(memoryBackend(tree), ruleHooks(rules));
    await denied(all(backend.read("/secret/a", {}, reach)), "/secret/a");
    await denied(backend.stat("/secret", reach), "/secret");
    await denied(backend.list("/secret", reach), "/secret");
    await denied(all(backend.glob({ pattern: "*", path: "/secret" }, reach)), "/secret");
    await denied(grep(backend, "/secret"), "/secret");
    await denied(grep(backend, "/repo/keys/c.pem"), "/repo/keys/c.pem");
    assert.deepEqual([await names(backend), await names(backend, "/repo/keys")], [["/d", "/repo"], []]);
    const found = await all(backend.glob({ pattern: "**", path: "/" }, reach));
    assert.deepEqual(found.map(({ path }) => path).toSorted(), ["/d", "/repo/.env", "/repo/src/b"]);
    assert.deepEqual((await grep(backend)).map(({ path }) => path).toSorted(), ["/d", "/repo/.env", "/repo/src/b"]);
  });

  test("files that must not be written are not written, deleted, or deleted with their directory", async () => {
    const inner = memoryBackend(tree);
    const backend = withPolicy(inner, ruleHooks(rules));
    await denied(backend.write("/repo/.env", content(), {}, reach), "/repo/.env");
    await denied(backend.write("/repo/new/.env.local", content(), {}, reach), "/repo/new/.env.local");
    await denied(backend.delete("/repo/.env", reach), "/repo/.env");
    await denied(backend.delete("/repo", reach), "/repo", /\/repo\/\.env in it must stay/);
    await denied(backend.delete("/secret", reach), "/secret");
    assert.ok(await inner.stat("/repo/src/b", reach));
    await backend.delete("/repo/src", reach);
    assert.deepEqual(await names(inner, "/repo"), ["/repo/.env", "/repo/keys"]);
  });

  test("files that must not be read are not deleted with their directory, and the error does not name them", async () => {
    const inner = memoryBackend(tree);
    const backend = withPolicy(inner, ruleHooks(rules));
    await denied(backend.delete("/repo/keys", reach), "/repo/keys", /keys: something in it must stay/);
    await denied(backend.delete("/repo/keys/c.pem", reach), "/repo/keys/c.pem");
    assert.ok(await inner.stat("/repo/keys/c.pem", reach));
  });

  test("a link is judged by its target and by its own name", async () => {
    await using scene = await Scene.make();
    scene.file("secret/a", "x");
    scene.file("open/b", "x");
    scene.link("way", "secret");
    scene.link("open/file", "../secret/a");
    scene.link("named.pem", "open/b");
    scene.link("fine", "open");
    const backend = withPolicy(scene.backend, ruleHooks(rules));
    await denied(all(backend.read("/way/a", {}, reach)), "/way/a");
    await denied(all(backend.read("/open/file", {}, reach)), "/open/file");
    await denied(all(backend.read("/named.pem", {}, reach)), "/named.pem");
    await denied(backend.write("/way/new", content(), {}, reach), "/way/new");
    await denied(backend.write("/open/file", content(), {}, reach), "/open/file");
    await denied(backend.delete("/way/a", reach), "/way/a");
    await denied(backend.list("/way", reach), "/way");
    await denied(grep(backend, "/way"), "/way");
    assert.deepEqual(await all(backend.glob({ pattern: "way/**", path: "/" }, reach)), []);
    assert.deepEqual([await names(backend), await names(backend, "/open")], [["/fine", "/open", "/src"], ["/open/b"]]);
    assert.equal(Buffer.concat(await all(backend.read("/fine/b", {}, reach))).toString(), "x");
    assert.deepEqual(
      (await all(backend.glob({ pattern: "*", path: "/fine" }, reach))).map(({ path }) => path),
      ["/fine/b"],
    );
    assert.deepEqual(await names(backend, "/fine"), ["/fine/b"]);
    assert.deepEqual(
      (await grep(backend, "/fine")).map(({ path }) => path),
      ["/fine/b"],
    );
    await backend.delete("/way", reach);
    assert.ok(existsSync(scene.inside("secret/a")));
  });

  test("a link that changes between the check and the use is not followed", async () => {
    await using scene = await Scene.make();
    scene.file("secret/a", "hidden x");
    scene.file("open/a", "x");
    scene.link("way", "open");
    const judged = withPolicy(scene.backend, {
      before(access, who) {
        // Right after it was checked.
        if (access.path === "/open/a") {
          scene.run("mv", "open", "kept");
          scene.run("ln", "-s", "secret", "open");
        }
        return ruleHooks(rules).before!(access, who);
      },
    });
    await assert.rejects(all(judged.read("/way/a", {}, reach)), (error: FileError) => error.problem === "changed");
  });
});
