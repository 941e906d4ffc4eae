import { build, type Plugin } from "esbuild";

/**
 * After `tsc -b` has made types and plain JavaScript: puts each entry point into one file, over the one that tsc wrote. Starting up is
 * mostly opening files, and of the schema library only the part that is used comes along.
 */
const entries = [
  { from: "packages/core/src/index.ts", to: "packages/core/dist/index.js" },
  { from: "packages/core/src/display.ts", to: "packages/core/dist/display.js" },
  { from: "packages/sqlite/src/index.ts", to: "packages/sqlite/dist/index.js" },
  // Without `import` in it, a thread starts in two thirds of the time.
  { from: "packages/sqlite/src/worker.ts", to: "packages/sqlite/dist/worker.cjs" },
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

/**
 * An `import` of a module of Node evaluates all of its exports: that of `node:fs` loads streams and promises, that of `node:process`
 * opens the standard input. This way only what is used is.
 */
const builtins: Plugin = {
  name: "builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }));
    onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => ({
      // Node 20.15 has no such function, and gets an error that says what to do, from the store.
      contents:
        path === "node:process"
          ? "module.exports = process;"
          : `module.exports = process.getBuiltinModule?.("${path}");`,
    }));
  },
};

for (const { from, to } of entries) {
  await build({
    entryPoints: [from],
    outfile: to,
    bundle: true,
    format: to.endsWith(".cjs") ? "cjs" : "esm",
    platform: "node",
    target: "node24",
    sourcemap: false,
    plugins: [external, builtins],
    logLevel: "error",
  });
}
