import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const module = pathToFileURL(join(import.meta.dirname, "../build/built-page.ts")).href;
const PROGRAM = `
  const { builtPage } = await import(${JSON.stringify(module)});
  console.log(JSON.stringify([...(await builtPage()).keys()]));`;

test("the page is built in any folder, and has the same files there", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "cinch-page-"));
  const filesBuiltIn = async (cwd: string): Promise<unknown> => {
    const args = ["-C", "@cinch/source", "--input-type=module", "--eval", PROGRAM];
    return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd })).stdout);
  };
  try {
    assert.deepEqual(await filesBuiltIn(elsewhere), await filesBuiltIn(import.meta.dirname));
  } finally {
    rmSync(elsewhere, { recursive: true, force: true, maxRetries: 9 });
  }
});
