import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { CinchError } from "@cinch/core";
import { postgresStore } from "@cinch/postgres";
import { created, input } from "../events.ts";
import { startServer, waitUntilUp } from "../server.ts";
import { until } from "../until.ts";

/** A small disk of its own, or why there is none. */
function smallDisk(): { folder: string; remove(): void } | string {
  const folder = mkdtempSync(join(tmpdir(), "cinch-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=110m,mode=755", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return "no file system can be mounted here";
  }
  const remove = () => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  };
  return { folder, remove };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a disk that is full costs time: each append is there once or was refused, and all goes on when there is space", async (t) => {
  const disk = smallDisk();
  if (typeof disk === "string") return t.skip(disk);
  const ballast = join(disk.folder, "ballast");
  writeFileSync(ballast, Buffer.alloc(30_000_000));
  const data = join(disk.folder, "data");
  let server = await startServer(data);
  const store = postgresStore({ url: server.url });
  try {
    await store.open();
    await store.append("t", [created()], { afterSeq: 0, take: 0 });
    const written: string[] = [];
    const refused: string[] = [];
    const stop = new AbortController();
    const writing = (async () => {
      for (let no = 0; !stop.signal.aborted; no++) {
        const events = [input(randomBytes(300_000).toString("base64"), `i${no}`)];
        try {
          const result = await store.append("t", events, { afterSeq: 1 + written.length, epoch: 1 });
          assert.equal(result.kind, "appended");
          written.push(`i${no}`);
        } catch (error) {
          assert.ok(error instanceof CinchError && ["STORE_FULL", "STORE_BUSY"].includes(error.code), String(error));
          refused.push(`i${no}`);
          await pause(50);
        }
      }
    })();
    // The server may refuse, or go down because it can't write its log.
    await until("the end of the space", () => refused.length >= 3 || !isAlive(server.pid), 60_000);
    await pause(2_000);
    rmSync(ballast);
    if (!isAlive(server.pid)) server = await startServer(data, { port: server.port });
    await waitUntilUp(server.url);
    const before = written.length;
    await until("the next append", () => written.length > before + 3, 60_000);
    stop.abort();
    await writing;
    const found = (await store.read("t")).flatMap((one) => (one.type === "input_accepted" ? [one.inputId] : []));
    assert.deepEqual(found, written);
    assert.equal(await store.holds("t", 1), true);
  } finally {
    await store.close();
    process.kill(server.pid, "SIGQUIT");
    await until("the end of the server", () => !isAlive(server.pid));
    disk.remove();
  }
});
