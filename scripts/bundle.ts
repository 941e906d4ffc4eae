import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { builtPage } from "../apps/web/build/built-page.ts";

/**
 * Runs after `tsc -b`, and bundles what is loaded at a start into one file for each package. A start mostly opens files, so one file loads
 * faster; and only the used part of the schema library is included.
 */

const root = join(import.meta.dirname, "..");

/** Other packages are not bundled: there must be only one copy of each class. */
const external: Plugin = {
  name: "external",
  setup({ onResolve }) {
    // The full zod is loaded only on demand.
    onResolve({ filter: /^zod$/ }, () => ({ external: true }));
    onResolve({ filter: /^@cinch\// }, ({ path }) => {
      // Functions alone, and the worker is to load nothing else of core.
      if (path === "@cinch/core/event-text") return { path: join(root, "packages/core/src/event-text.ts") };
      return { path, external: true };
    });
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

/** Entry points that share classes: each of them only exports names of one common file. */
await bundleTogether("packages/core", ["index", "journal", "store", "workspace"]);
// A browser loads it alone.
await bundle({ entryPoints: ["packages/core/src/display.ts"], outfile: "packages/core/dist/display.js" });
await bundle({ entryPoints: ["packages/sqlite/src/index.ts"], outfile: "packages/sqlite/dist/index.js" });
// As CommonJS, the worker starts in two thirds of the time.
await bundle({
  entryPoints: ["packages/sqlite/src/worker.ts"],
  outfile: "packages/sqlite/dist/worker.cjs",
  format: "cjs",
});

mkdirSync(join(root, "apps/web/dist/built"), { recursive: true });
for (const [name, bytes] of await builtPage()) writeFileSync(join(root, "apps/web/dist/built", name), bytes);

async function bundleTogether(folder: string, entries: readonly string[]): Promise<void> {
  const resolveDir = join(root, folder, "src");
  const contents = entries.map((entry) => `export * from "./${entry}.ts";`).join("\n");
  await bundle({ stdin: { contents, resolveDir, loader: "ts" }, outfile: `${folder}/dist/bundle.js` });
  for (const entry of entries) {
    const names = Object.keys((await import(join(resolveDir, `${entry}.ts`))) as object);
    writeFileSync(join(root, folder, "dist", `${entry}.js`), `export { ${names.join(", ")} } from "./bundle.js";\n`);
  }
}

async function bundle(options: BuildOptions): Promise<void> {
  await build({
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    sourcemap: false,
    plugins: [external, builtins],
    logLevel: "error",
    absWorkingDir: root,
    ...options,
  });
}
