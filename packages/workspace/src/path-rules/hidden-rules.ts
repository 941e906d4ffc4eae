import type { Backend } from "../backend.ts";
import type { PathRule } from "@cinch/core/workspace";

/** Rules that hide real files and folders, under every path that they have in this backend. */
export async function hiddenRules(backend: Backend, real: readonly string[]): Promise<PathRule[]> {
  const found = await Promise.all(real.map(async (path) => (await backend.whereIs?.(path)) ?? []));
  const paths = found.flat().flatMap((path) => [escapeGlob(path), `${escapeGlob(path)}/**`]);
  return paths.length > 0 ? [{ operations: ["read", "write"], paths, mode: "deny" }] : [];
}

/** A pattern that matches only this path. */
export const escapeGlob = (path: string): string => path.replaceAll(/[*?[\]{}\\]/g, "\\$&");
