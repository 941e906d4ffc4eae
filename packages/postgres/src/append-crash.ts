type Position = "before" | "inside" | "after";

/** For tests: `CRASH_AT="tool_end:inside:2"` kills the process inside the transaction that writes the second `tool_end`. */
const wanted = parse(process.env["CRASH_AT"]);
let seen = 0;

function parse(text: string | undefined): { type: string; position: string; nth: number } | undefined {
  const [type, position, nth = "1"] = text?.split(":") ?? [];
  return type && position ? { type, position, nth: Number(nth) } : undefined;
}

/** Whether the process is to be killed at this position of an append with events of these types. */
export function isCrashPoint(position: Position, types: () => string[]): boolean {
  if (wanted?.position !== position) return false;
  const before = seen;
  seen += types().filter((type) => type === wanted.type).length;
  return before < wanted.nth && seen >= wanted.nth;
}

export const killThisProcess = (): boolean => process.kill(process.pid, "SIGKILL");
