import { build, type Plugin } from "esbuild";

/**
 * After `tsc -b` has made types and plain JavaScript: puts each entry point into one file, over the one that tsc wrote. Starting up is
 * mostly opening files, and of the schema library only the part that is used comes along.
 */
const entries = [
  { from: "packages/core/src/index.ts", to: "packages/core/dist/index.js" },
  { from: "packages/sqlite/src/index.ts", to: "packages/sqlite/dist/index.js" },
  { from: "packages/sqlite/src/worker.ts", to: "packages/sqlite/dist/worker.js" },
];

/** Other packages stay packages: they are installed beside this one, and classes must be the same everywhere. */
const external: Plugin = {
  name: "external",
  setup({ onResolve }) {
    // The whole of zod is loaded on demand only.
    onResolve({ filter: /^zod$/ }, () => ({ external: true }));
    onResolve({ filter: /^@cinch\// }, ({ path }) => ({ path, external: true }));
  },
};

for (const { from, to } of entries) {
  await build({
    entryPoints: [from],
    outfile: to,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    sourcemap: false,
    plugins: [external],
    logLevel: "error",
  });
}
