import type { Backend } from "./backend.ts";
import type { PathRule } from "./path-rules/path-rules.ts";

/** Rules under which real files and folders are not there for anybody, wherever this backend shows them. */
export async function hiddenRules(backend: Backend, real: readonly string[]): Promise<PathRule[]> {
  const places = await Promise.all(real.map(async (path) => (await backend.whereIs?.(path)) ?? []));
  const paths = places.flat().flatMap((path) => [literally(path), `${literally(path)}/**`]);
  return paths.length > 0 ? [{ operations: ["read", "write"], paths, mode: "deny" }] : [];
}

/** A path as a pattern that means nothing else. */
export const literally = (path: string): string => path.replaceAll(/[*?[\]{}\\]/g, "\\$&");
