import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
 * An `import` of a Node module evaluates all of its exports: `node:fs` loads streams and promises, `node:process` opens stdin. So only the
 * exports that are used are read.
 */
const builtins: Plugin = {
  name: "builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }));
    onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => {
      if (path === "node:process") return { contents: "export default process;" };
      // Node 20.15 has no such function. The store then throws an error that says what to do.
      const module = `process.getBuiltinModule?.("${path}") ?? {}`;
      return { contents: `export const { ${importedFrom(path).join(", ")} } = ${module};` };
    });
  },
};

/** The names that the bundled packages import from a Node module. */
function importedFrom(module: string): string[] {
  const sources = globSync("packages/{core,sqlite}/src/**/*.ts", { cwd: root }).map((file) =>
    readFileSync(join(root, file), "utf8"),
  );
  const lists = sources.flatMap((text) => Array.from(text.matchAll(/^import \{([^}]*)\} from "(node:[\w/]+)";$/gm)));
  const names = lists.filter(([, , from]) => from === module).flatMap(([, list = ""]) => list.split(","));
  const values = names.map((name) => name.trim()).filter((name) => name !== "" && !name.startsWith("type "));
  return [...new Set(values.map((name) => name.split(" as ")[0]!))];
}

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
    // V8 scans the whole text at the import and keeps it on the heap. Names stay, and lines stay short, for stack traces.
    minifyWhitespace: true,
    lineLimit: 120,
    plugins: [external, builtins],
    logLevel: "error",
    absWorkingDir: root,
    ...options,
  });
}
