import { readFile } from "node:fs/promises";
// Not by name: an older Node has no such function, and would fail before `@cinch/core` says that it is too old.
import module from "node:module";
import { resolve } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CinchError, registerProfile } from "@cinch/core";

/**
 * The path or the URL of a JSON file, whose name ends in `.json`; or the name of an installed package, whose package.json lists such files
 * under `cinch.profiles`.
 */
export type ProfileSource = string | URL;

/**
 * Registers the profiles of JSON files: objects with profiles by key, such as `{ "openai:gpt-5.4": { "excludedTools": ["execute"] } }`.
 * Paths and packages are looked up from the working directory. No code of a package runs. Returns a function that unregisters all of them.
 * Rejects with `INVALID_CONFIG`, which names the file and the key; then none is registered.
 */
export async function loadProfiles(source: ProfileSource | readonly ProfileSource[]): Promise<() => void> {
  const sources = Array.isArray(source) ? source : [source];
  const files = (await Promise.all(sources.map(filesOf))).flat();
  const read = await Promise.all(files.map(async (file) => ({ file, profiles: await objectIn(file) })));
  const registered: (() => void)[] = [];
  const unregister = () => registered.forEach((one) => one());
  try {
    for (const { file, profiles } of read)
      for (const [key, profile] of Object.entries(profiles)) registered.push(register(file, key, profile));
  } catch (error) {
    unregister();
    throw error;
  }
  return unregister;
}

function register(file: string, key: string, profile: unknown): () => void {
  if (typeof profile === "object" && profile !== null && Object.hasOwn(profile, "extraTools"))
    throw invalid(file, `Profile "${key}": extraTools are code, which JSON can't hold. Pass them to registerProfile.`);
  try {
    return registerProfile(key, profile as Parameters<typeof registerProfile>[1]);
  } catch (error) {
    throw invalid(file, reasonOf(error), error);
  }
}

async function filesOf(source: unknown): Promise<string[]> {
  if (source instanceof URL && source.protocol === "file:") return [fileURLToPath(source)];
  if (typeof source === "string" && source.endsWith(".json")) return [resolve(source)];
  if (typeof source === "string" && PACKAGE_NAME.test(source)) return filesOfPackage(source);
  throw invalid(String(source), "this is neither the path of a file that ends in .json nor the name of a package.");
}

const PACKAGE_NAME = /^(@[^/\\]+\/)?[^./\\][^/\\]*$/;

async function filesOfPackage(name: string): Promise<string[]> {
  const packageFile = packageFileOf(name);
  if (packageFile === undefined)
    throw invalid(
      name,
      `there is no such package in ${process.cwd()}. Install it, or give the path of a file that ends in .json.`,
    );
  const { cinch } = (await objectIn(packageFile)) as { cinch?: { profiles?: unknown } };
  const paths = cinch?.profiles;
  if (!Array.isArray(paths) || paths.length === 0 || !paths.every((path) => typeof path === "string"))
    throw invalid(packageFile, 'it lists no profiles. Add "cinch": { "profiles": ["./profiles.json"] }.');
  return paths.map((path: string) => resolve(packageFile, "..", path));
}

function packageFileOf(name: string): string | undefined {
  try {
    return module.findPackageJSON(name, pathToFileURL(`${process.cwd()}/`));
  } catch {
    return undefined;
  }
}

async function objectIn(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw invalid(file, `it can't be read: ${reasonOf(error)}`, error);
  });
  const value = parsed(file, text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(file, 'it must hold an object with profiles by key, such as { "anthropic": { … } }.');
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalid(file, `it is not valid JSON: ${reasonOf(error)}`, error);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const invalid = (what: string, problem: string, cause?: unknown): CinchError =>
  new CinchError("INVALID_CONFIG", `loadProfiles: ${what}: ${problem}`, cause);
