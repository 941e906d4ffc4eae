import { build, type Plugin } from "esbuild";

/**
 * Runs after `tsc -b`, and bundles each entry point into one file that replaces the one of tsc. A start mostly opens files, so one file
 * loads faster; and only the used part of the schema library is included.
 */
const entries = [
  { from: "packages/core/src/index.ts", to: "packages/core/dist/index.js" },
  { from: "packages/core/src/display.ts", to: "packages/core/dist/display.js" },
  { from: "packages/sqlite/src/index.ts", to: "packages/sqlite/dist/index.js" },
  // As CommonJS, the worker starts in two thirds of the time.
  { from: "packages/sqlite/src/worker.ts", to: "packages/sqlite/dist/worker.cjs" },
];

/** Other packages are not bundled: there must be only one copy of each class. */
const external: Plugin = {
  name: "external",
  setup({ onResolve }) {
    // The full zod is loaded only on demand.
    onResolve({ filter: /^zod$/ }, () => ({ external: true }));
    onResolve({ filter: /^@cinch\// }, ({ path }) => ({ path, external: true }));
  },
};

/**
 * An `import` of a Node module evaluates all of its exports: `node:fs` loads streams and promises, `node:process` opens stdin. A required
 * module evaluates only the exports that are used.
 */
const builtins: Plugin = {
  name: "builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }));
    onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => ({
      // Node 20.15 has no such function. The store then throws an error that says what to do.
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
