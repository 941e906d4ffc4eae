import process from "node:process";
import { gzipSync } from "node:zlib";
import { builtPage } from "../apps/web/build/built-page.ts";

/** What a browser loads before the page can be used, compressed. What is imported later does not count. */
const LIMIT = 61_879;
const files = await builtPage();
const textOf = (name: string): string => new TextDecoder().decode(files.get(name));
const first = new Set([...textOf("index.html").matchAll(/[\w-]+\.js/g)].map(([name]) => name));
// A set that grows is iterated to its end.
for (const name of first)
  for (const [, imported] of textOf(name).matchAll(/(?:\bfrom|\bimport)\s*"\.\/([\w.-]+)"/g)) first.add(imported!);
const bytes = [...first].reduce((sum, name) => sum + gzipSync(files.get(name)!).length, 0);
console.log(`page: ${bytes} bytes of first scripts, compressed, in ${first.size} files`);
if (bytes === 0 || bytes > LIMIT) {
  console.error(`The first scripts of the page have ${bytes} bytes, at most ${LIMIT}.`);
  process.exit(1);
}
