const NEEDED = 24;

interface Host {
  versions?: { node?: string; bun?: string; deno?: string };
}

/**
 * Otherwise an older Node would fail later, with a stack trace that does not say what to do. Every package that needs this version imports
 * this one, and so checks it too. Browsers have no version, and the version of Node that Bun and Deno report is not theirs.
 */
export function refuseOldNode(): void {
  const { node, bun, deno } = (globalThis as { process?: Host }).process?.versions ?? {};
  if (node === undefined || (bun ?? deno) !== undefined || Number.parseInt(node, 10) >= NEEDED) return;
  const error = new Error(`@cinch/core needs Node ${NEEDED} or newer, and this is Node ${node}. Install a newer one.`);
  // The import chain would only hide the message.
  error.stack = `Error: ${error.message}`;
  throw error;
}
