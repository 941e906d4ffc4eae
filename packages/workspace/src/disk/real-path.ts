import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Where a real path leads, with every link on the way resolved, also if there is nothing there yet. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), basename(path));
  }
}
