import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { directoryBackend } from "@cinch/workspace";

test("deleting a link deletes neither its target nor a file that has replaced the link", async () => {
  const root = mkdtempSync(join(tmpdir(), "cinch-link-"));
  try {
    const backend = directoryBackend({ root });
    const reach = { threadId: "t", resourceId: "r" };
    writeFileSync(join(root, "file"), "kept");
    symlinkSync("file", join(root, "link"));
    await backend.delete("/link", reach, { ifLink: true });
    assert.deepEqual([existsSync(join(root, "link")), readFileSync(join(root, "file"), "utf8")], [false, "kept"]);
    await assert.rejects(backend.delete("/file", reach, { ifLink: true }), { problem: "changed" });
    assert.equal(readFileSync(join(root, "file"), "utf8"), "kept");
  } finally {
    rmSync(root, { recursive: true });
  }
});
