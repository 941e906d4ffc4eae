import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { directoryBackend } from "@cinch/workspace";

const ROUNDS = 60;
const reach = { threadId: "t", resourceId: "r" };
const STORM = `for (;;) { mkdir("tmp-d/e"); for (const f of ["tmp-1", "tmp-d/tmp-2", "tmp-d/e/tmp-3", "sub/tmp-4"]) write(f); remove("tmp-1"); remove("sub/tmp-4"); remove("tmp-d"); }`;

test("files that stay in a folder are listed, found and read, whatever a command creates and removes there meanwhile", async () => {
  const root = mkdtempSync(join(tmpdir(), "cinch-vanishing-"));
  for (const folder of ["sub", "tmp-stays"]) mkdirSync(join(root, folder));
  const staying = ["/a.txt", "/sub/b.txt", "/tmp-stays/c.txt"];
  for (const path of staying) writeFileSync(join(root, path), "zebra\n");
  const helpers = `const fs = require("fs"); const mkdir = (p) => fs.mkdirSync(p, { recursive: true }); const write = (p) => fs.writeFileSync(p, "zebra"); const remove = (p) => fs.rmSync(p, { recursive: true, force: true, maxRetries: 9 });`;
  const storm = spawn(process.execPath, ["-e", helpers + STORM], { cwd: root, stdio: "ignore" });
  const ended = once(storm, "exit");
  await once(storm, "spawn");
  try {
    const backend = directoryBackend({ root });
    const kept = (paths: string[]) => paths.filter((path) => staying.includes(path)).toSorted();
    for (let round = 0; round < ROUNDS; round++) {
      const listed = (await backend.list("/", reach)).map(({ path }) => path);
      assert.deepEqual(kept(listed), ["/a.txt"]);
      const globbed = await pathsOf(backend.glob({ pattern: "**/*", path: "/" }, reach));
      assert.deepEqual(kept(globbed), staying);
      const query = { pattern: "zebra", path: "/", regex: false, ignoreCase: false };
      const grepped = await pathsOf(backend.grep(query, reach));
      assert.deepEqual(kept(grepped), staying);
      assert.deepEqual(kept(await pathsOf(backend.tree!(reach))), staying);
    }
  } finally {
    storm.kill("SIGKILL");
    await ended;
    rmSync(root, { recursive: true, force: true, maxRetries: 9 });
  }
});

async function pathsOf(found: AsyncIterable<{ path: string }>): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of found) paths.push(path);
  return paths;
}
