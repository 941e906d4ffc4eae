import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { LLMock } from "@copilotkit/aimock";
import { bundleAll } from "../packages/testkit/test/bundle.ts";

/** Runs the programs in the documents unchanged. Their provider is a local server. */
const root = join(import.meta.dirname, "..");
const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];
const folder = mkdtempSync(join(root, "test", ".docs-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

interface Program {
  title: string;
  source: string;
}

/** The programs in the documents. Most of their time is the start, so they are bundled. */
const programs: Program[] = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""], at) => {
    const source = join(folder, `${page.replaceAll("/", "-")}-${at + 1}.ts`);
    writeFileSync(source, code);
    return { title: `program ${at + 1} of ${page}`, source };
  });
});
let bundled: string[] = [];
before(async () => (bundled = await bundleAll(programs.map(({ source }) => source))));

for (const [at, { title }] of programs.entries()) {
  test(`${title} runs without an error`, async () => {
    const provider = new LLMock({ port: 0 });
    provider.onMessage(/.*/, { content: "2 + 3 is 5." });
    await provider.start();
    try {
      const env = { ...process.env, ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: `${provider.url}/v1` };
      const { stderr } = await promisify(execFile)(process.execPath, [bundled[at]!], { cwd: folder, env });
      assert.equal(stderr, "");
    } finally {
      await provider.stop();
    }
  });
}

/** The anchors of the headings of a page. */
const anchors = (page: string): string[] =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );

for (const page of [...pages, "SECURITY.md"]) {
  test(`every link in ${page} points to an existing page, heading or file`, () => {
    const text = readFileSync(join(root, page), "utf8").replaceAll(/^```.*?^```$/gms, "");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    for (const link of links.filter((one) => !/^https?:/.test(one))) {
      const [file, anchor] = link.split("#");
      const target = file ? join(root, dirname(page), file) : join(root, page);
      assert.ok(existsSync(target), link);
      if (anchor !== undefined) assert.ok(anchors(readFileSync(target, "utf8")).includes(anchor), link);
    }
  });
}

test("every test that the README names for a promise exists", () => {
  const [, promises = ""] = readFileSync(join(root, "README.md"), "utf8").split("## What it promises\n");
  const rows = promises
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const named = rows.slice(1).map((row) => {
    let beside = "";
    return [...row.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, file = ""]) => {
      // A name without a folder is in the folder of the previous one.
      if (file.includes("/")) beside = dirname(file);
      return file.includes("/") ? file : join(beside, file);
    });
  });
  assert.ok(named.length > 10 && named.every((files) => files.length > 0), "each promise names a test");
  assert.deepEqual(
    named.flat().filter((file) => !existsSync(join(root, file))),
    [],
  );
});
