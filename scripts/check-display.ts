import { gzipSync } from "node:zlib";
import process from "node:process";
import { build } from "esbuild";

/** What a browser loads of `@cinch/core/display`, minified and compressed. An event that needs more raises this in its own commit. */
const LIMIT = 5_580;

const { outputFiles, metafile } = await build({
  entryPoints: ["packages/core/src/display.ts"],
  bundle: true,
  minify: true,
  format: "esm",
  write: false,
  metafile: true,
});
const strangers = Object.keys(metafile.inputs).filter((file) => !file.startsWith("packages/core/src/"));
const bytes = gzipSync(outputFiles[0]!.contents).length;
const problems = [
  ...strangers.map((file) => `@cinch/core/display must not load ${file}`),
  ...(bytes > LIMIT ? [`@cinch/core/display has ${bytes} bytes, at most ${LIMIT}`] : []),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`display: ${bytes} bytes, compressed`);
