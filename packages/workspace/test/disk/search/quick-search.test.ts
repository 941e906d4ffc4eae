/** A folder that has not changed recently is searched the quick way, which must find the same as the careful way. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { directoryBackend, type Backend } from "@cinch/workspace";
import type { Entry, GrepMatch } from "@cinch/workspace/backend";
import { Subtree } from "../../../src/disk/search/subtree.ts";
import { Disk } from "../../../src/disk/disk.ts";
import { QuickListing } from "../../../src/disk/search/quick-listing.ts";
import { reach } from "../../temporary-folder.ts";

const FILES: Record<string, string | Buffer> = {
  "root/a.ts": "needle\n",
  "root/.env": "KEY=needle",
  "root/.gitignore": "*.log\n/dist/\n",
  "root/x.log": "needle\n",
  "root/dist/out.js": "needle\n",
  "root/node_modules/m/index.js": "needle\n",
  "root/src/ä ö/😀.ts": "\uFEFFneedle ä\r\nno\r\nneedle 😀\r\n",
  "root/src/deep/er/est.ts": "x:y:needle\nlast needle",
  "root/src/name:1:2.ts": "needle: 1:2:3\n",
  "root/src/line\nbreak.ts": "needle\n",
  "root/src/.cinch-tmp-1": "needle\n",
  "root/src/latin1.txt": Buffer.from("caf\xe9 needle\n", "latin1"),
  "root/src/binary.bin": Buffer.from("needle\0needle\n"),
  "root/src/long.txt": `${"é".repeat(3_000)}needle\n${"y".repeat(700_000)}needle\nneedle\n`,
  "root/src/empty.ts": "",
  "outside/secret.ts": "needle of another\n",
};

/** With links, a pipe, and a name that is not valid text. */
function place() {
  const base = mkdtempSync(join(tmpdir(), "cinch-quick-"));
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), content);
  }
  const root = join(base, "root");
  symlinkSync("../outside", join(root, "out"));
  symlinkSync("../../outside/secret.ts", join(root, "src/secret.ts"));
  symlinkSync("src/deep", join(root, "in"));
  execFileSync("mkfifo", [join(root, "src/pipe.ts")]);
  writeFileSync(Buffer.concat([Buffer.from(`${root}/src/`), Buffer.from([0xff, 0x2e, 0x74, 0x73])]), "needle\n");
  utimesSync(join(root, "a.ts"), 1_000, 1_234.567);
  return { root, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true, maxRetries: 9 }) };
}

async function all<T>(items: AsyncIterable<T>, key: (item: T) => string): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

const globbed = (backend: Backend, pattern: string, path: string): Promise<Entry[]> =>
  all(backend.glob({ pattern, path }, reach), (entry) => entry.path);

const grepped = (backend: Backend, query: { pattern: string; path: string; regex: boolean }): Promise<GrepMatch[]> =>
  all(
    backend.grep({ ignoreCase: false, ...query }, reach),
    ({ path, line }) => `${path} ${String(line).padStart(6, "0")}`,
  );

test("glob gives the same results", async () => {
  using at = place();
  await sleep(100);
  const [quick, careful] = [
    directoryBackend({ root: at.root }),
    directoryBackend({ root: at.root, confinement: "checks" }),
  ];
  const entries = await globbed(quick, "**", "/");
  assert.ok(entries.length > 10 && !entries.some(({ path }) => path.includes("secret") || path.includes("pipe")));
  assert.deepEqual(
    entries.find(({ path }) => path === "/a.ts"),
    {
      path: "/a.ts",
      type: "file",
      size: 7,
      modified: 1_234_567,
    },
  );
  for (const path of ["/", "/src", "/in", "/src/deep/er"])
    for (const pattern of ["**", "**/*.ts", "*", "src/**", "in/**", "deep/*/est.ts", "**/dist/*", ".*"])
      assert.deepEqual(
        await globbed(quick, pattern, path),
        await globbed(careful, pattern, path),
        `${path} ${pattern}`,
      );
});

test("grep gives the same lines", async () => {
  using at = place();
  await sleep(100);
  const [quick, careful] = [
    directoryBackend({ root: at.root }),
    directoryBackend({ root: at.root, confinement: "checks" }),
  ];
  const matches = await grepped(quick, { pattern: "needle", path: "/", regex: false });
  assert.deepEqual(
    matches.filter(({ path }) => path === "/src/ä ö/😀.ts"),
    [
      { path: "/src/ä ö/😀.ts", line: 1, text: "needle ä" },
      { path: "/src/ä ö/😀.ts", line: 3, text: "needle 😀" },
    ],
  );
  for (const path of ["/", "/src", "/in"])
    for (const query of [
      { pattern: "needle", path, regex: false },
      { pattern: "n.*e$", path, regex: true },
      { pattern: "", path, regex: false },
    ])
      assert.deepEqual(await grepped(quick, query), await grepped(careful, query), JSON.stringify(query));
});

test("files that are changed during a search are looked up again, and found", async () => {
  using at = place();
  await sleep(100);
  const backend = directoryBackend({ root: at.root });
  writeFileSync(join(at.root, "src/deep/new.ts"), "needle\n");
  const found = await globbed(backend, "**/deep/**", "/");
  assert.deepEqual(
    found.map(({ path }) => path),
    ["/src/deep/er/est.ts", "/src/deep/new.ts"],
  );
  writeFileSync(join(at.root, "src/deep/newer.ts"), "needle\n");
  const matches = await grepped(backend, { pattern: "needle", path: "/src/deep", regex: false });
  assert.deepEqual(
    matches.map(({ path }) => path),
    ["/src/deep/er/est.ts", "/src/deep/er/est.ts", "/src/deep/new.ts", "/src/deep/newer.ts"],
  );
});

/** Replaces a folder by a link to the outside, and restores it, so that everything looks as before. */
function swap(folder: string, outside: string): { back(): void } {
  renameSync(folder, `${folder}.kept`);
  symlinkSync(outside, folder);
  return {
    back() {
      unlinkSync(folder);
      renameSync(`${folder}.kept`, folder);
    },
  };
}

const linux = { skip: process.platform !== "linux" };

for (const [which, folder] of [
  ["a folder", "src/deep/er"],
  ["a folder above it", "src"],
] as const) {
  test(`a listing is discarded if ${which} was a link for a moment while it was read`, linux, async () => {
    using at = place();
    const outside = join(at.root, "../outside");
    for (const path of ["est.ts", "deep/er/est.ts"]) {
      mkdirSync(dirname(join(outside, path)), { recursive: true });
      writeFileSync(join(outside, path), "something much longer");
    }
    await sleep(100);
    await using located = await new Disk(at.root).locate("/src/deep/er", { follow: true });
    let asked = 0;
    let swapped: ReturnType<typeof swap> | undefined;
    const listing = new QuickListing(new Subtree(located.enter(), "/src/deep/er"), () => {
      if (++asked === 1) swapped = swap(join(at.root, folder), outside);
      else swapped!.back();
      return true;
    });
    const children = await listing.children("/src/deep/er");
    assert.deepEqual(
      children.map(({ known }) => [known?.path, known?.size]),
      [["/src/deep/er/est.ts", 22]],
    );
    assert.equal(asked, 2);
  });

  test(`results are discarded if ${which} was a link for a moment`, linux, async () => {
    using at = place();
    await sleep(100);
    const since = Date.now();
    await using located = await new Disk(at.root).locate("/", { follow: true });
    const below = new Subtree(located.enter(), "/");
    const asked = new Set(["/", "/src/deep/er", "/src/ä ö"]);
    assert.deepEqual(
      [...asked].filter((path) => below.untouched(asked, since).has(path)),
      [...asked],
    );
    swap(join(at.root, folder), join(at.root, "../outside")).back();
    const still = below.untouched(asked, since);
    assert.deepEqual(
      [...asked].filter((path) => still.has(path)),
      folder === "src" ? [] : ["/", "/src/ä ö"],
    );
  });
}
