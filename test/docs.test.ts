import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { LLMock } from "@copilotkit/aimock";

/** The programs in the documents run as they stand there. Where one talks to a provider, that is a local server. */
const root = join(import.meta.dirname, "..");
const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];
const folder = mkdtempSync(join(root, "test", ".docs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

for (const page of pages) {
  const text = readFileSync(join(root, page), "utf8");
  for (const [at, [, code = ""]] of [...text.matchAll(/^```ts\n(.*?)^```$/gms)].entries()) {
    test(`${page}, program ${at + 1}, runs as it stands there`, { timeout: 60_000 }, async () => {
      const file = join(folder, `${page.replaceAll("/", "-")}-${at + 1}.ts`);
      writeFileSync(file, code);
      const provider = new LLMock({ port: 0 });
      provider.onMessage(/.*/, { content: "2 + 3 is 5." });
      await provider.start();
      try {
        const env = { ...process.env, ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: `${provider.url}/v1` };
        const args = ["-C", "@cinch/source", file];
        const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
        assert.equal(stderr, "");
      } finally {
        await provider.stop();
      }
    });
  }
}
