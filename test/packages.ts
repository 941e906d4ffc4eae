import { execFile } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const run = promisify(execFile);
export const root = join(import.meta.dirname, "..");
export const folders = [
  "packages/core",
  "packages/sqlite",
  "packages/postgres",
  "packages/restate",
  "packages/workspace",
  "packages/memory",
  "packages/server",
  "packages/client",
  "packages/testkit",
  "apps/web",
  "apps/cli",
];

interface Manifest {
  name: string;
  version: string;
  bin?: Record<string, string>;
  exports?: Record<string, Record<string, string>>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  engines: { node: string };
}

export function manifestOf(folder: string): Manifest {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  return Object.assign(manifest, { dependencies: manifest.dependencies ?? {} });
}

/** What a program may import of a package, as it is written: `@cinch/core`, `@cinch/core/display`. */
export function entriesOf(folder: string): string[] {
  const { name, exports = {} } = manifestOf(folder);
  return Object.keys(exports).map((path) => join(name, path));
}

/** Builds all packages from their sources in an empty folder, so that no file of an earlier build is used. */
export async function build(into: string): Promise<void> {
  for (const file of ["tsconfig.base.json", "package.json", "scripts"])
    cpSync(join(root, file), join(into, file), { recursive: true });
  for (const folder of folders) {
    const filter = (path: string) => !/\/(dist|test|node_modules)$/.test(path);
    cpSync(join(root, folder), join(into, folder), { recursive: true, filter });
    link(join(into, folder), join(into, "node_modules", manifestOf(join(root, folder)).name));
  }
  for (const name of installed()) link(join(root, "node_modules", name), join(into, "node_modules", name));
  const bin = (name: string) => join(root, "node_modules", name);
  await run(bin(".bin/tsc"), ["-b", ...folders], { cwd: into });
  await run(process.execPath, ["scripts/bundle.ts"], { cwd: into });
}

/** The third-party packages of the repository. */
function installed(): string[] {
  const modules = join(root, "node_modules");
  return readdirSync(modules)
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name],
    )
    .filter((name) => !name.startsWith(".") && !name.startsWith("@cinch/") && name !== "cinch");
}

function link(to: string, at: string): void {
  mkdirSync(dirname(at), { recursive: true });
  if (!existsSync(at)) symlinkSync(to, at);
}

/**
 * Packs the built packages, and installs the tarballs into an empty folder. Each package finds only the third-party packages that it
 * declares. They are linked from the repository, so no network is needed.
 */
export async function install(built: string, into: string): Promise<void> {
  mkdirSync(into, { recursive: true });
  await run("npm", ["pack", "--silent", ...folders.map((folder) => `./${folder}`), "--pack-destination", into], {
    cwd: built,
  });
  for (const tarball of globSync("*.tgz", { cwd: into })) {
    const unpacked = join(into, "unpacked", tarball);
    mkdirSync(unpacked, { recursive: true });
    await run("tar", ["-xzf", join(into, tarball), "-C", unpacked]);
    const { name, bin = {}, dependencies = {} } = manifestOf(join(unpacked, "package"));
    const place = join(into, "node_modules", name);
    cpSync(join(unpacked, "package"), place, { recursive: true });
    for (const other of Object.keys(dependencies).filter((one) => !one.startsWith("@cinch/")))
      link(join(root, "node_modules", other), join(place, "node_modules", other));
    for (const [command, file] of Object.entries(bin))
      link(join(place, file), join(into, "node_modules/.bin", command));
  }
}

/** The specifiers that a built file imports. In a bundle without white space, a text that ends in "from" is followed by code. */
export function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8").replaceAll(/^\s*(\/\/|\*|\/\*\*).*$/gm, "");
  const found = text.matchAll(/(?:\bfrom|^import|\bimport\()\s*"([^"\n$();]+)"/gm);
  return [...found].map(([, specifier = ""]) => specifier);
}

/** `@scope/name/sub/path` belongs to the package `@scope/name`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
