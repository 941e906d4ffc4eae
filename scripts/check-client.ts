import { gzipSync } from "node:zlib";
import process from "node:process";
import { build } from "esbuild";

/**
 * What a browser loads of each entry point, minified and compressed; of the hooks without React. The goal for the client is 8,000, of which
 * the folds take 5,500. With `--table`: what each module adds, that is, how much smaller the whole would be without it.
 */
const LIMITS = { "packages/client/src/index.ts": 13_710, "packages/client/src/react.ts": 1_026 };
const problems: string[] = [];
for (const [entry, limit] of Object.entries(LIMITS)) {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    // Refuses modules of Node.
    platform: "neutral",
    conditions: ["@cinch/source"],
    external: ["react"],
    write: false,
    metafile: true,
  });
  const bytes = gzipSync(outputFiles[0]!.contents).length;
  const strangers = Object.keys(metafile.inputs).filter((file) => !/^packages\/(client|core)\/src\//.test(file));
  problems.push(...strangers.map((file) => `${entry} must not load ${file}`));
  if (bytes > limit) problems.push(`${entry} has ${bytes} bytes, at most ${limit}`);
  console.log(`${entry}: ${bytes} bytes, compressed`);
  if (process.argv.includes("--table")) printTable(outputFiles[0]!.text, Object.values(metafile.outputs)[0]!.inputs);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

/** The modules stand in the bundle one after the other, in the order of `inputs`. */
function printTable(bundle: string, inputs: Record<string, { bytesInOutput: number }>): void {
  let end = 0;
  const rows = Object.entries(inputs).map(([file, { bytesInOutput }]) => {
    const start = end;
    end += bytesInOutput;
    const others = bundle.slice(0, start) + bundle.slice(end);
    return { file, minified: bytesInOutput, compressed: gzipSync(bundle).length - gzipSync(others).length };
  });
  console.table(rows.filter(({ minified }) => minified > 0).toSorted((a, b) => b.compressed - a.compressed));
}
