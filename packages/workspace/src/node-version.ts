import process from "node:process";

const NEEDED = 24;

/** Otherwise an older Node would fail later, with a stack trace that does not say what to do. */
export function checkNodeVersion(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= NEEDED) return;
  const error = new Error(
    `@cinch/workspace needs Node ${NEEDED} or newer, and this is Node ${node}. Install a newer one.`,
  );
  error.stack = `Error: ${error.message}`;
  throw error;
}
