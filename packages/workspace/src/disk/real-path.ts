import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** A real path with every link resolved, also if nothing exists there yet. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), basename(path));
  }
}
