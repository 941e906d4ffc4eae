import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

const app = join(import.meta.dirname, "..");
const source = join(app, "src/page");

/** Bundles the page: its script, what it loads late, its style, and the document that names them. */
export async function builtPage(): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
  const { outputFiles, metafile } = await build({
    // Where the target of an alias is looked for. By default that is where the process was started.
    absWorkingDir: app,
    entryPoints: [join(source, "main.tsx"), join(source, "style.css")],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    write: false,
    metafile: true,
    outdir: "/page",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
    conditions: ["@cinch/source", "browser"],
    alias: { react: "preact/compat" },
    logLevel: "error",
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), new Uint8Array(contents)]));
  const entryOf = (name: string) => {
    const outputs = Object.entries(metafile.outputs);
    return basename(outputs.find(([, { entryPoint }]) => entryPoint?.endsWith(name))![0]);
  };
  const html = (await readFile(join(source, "index.html"), "utf8"))
    .replace("main.tsx", entryOf("main.tsx"))
    .replace("style.css", entryOf("style.css"));
  files.set("index.html", new Uint8Array(new TextEncoder().encode(html)));
  for (const name of ["icon.svg", "app.webmanifest"])
    files.set(name, new Uint8Array(await readFile(join(source, name))));
  return files;
}
