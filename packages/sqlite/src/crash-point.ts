type Position = "before" | "inside" | "after";

/** For tests: `CRASH_AT="tool_end:inside:2"` kills the process inside the transaction that writes the second `tool_end`. */
const wanted = parse(process.env["CRASH_AT"]);
let seen = 0;

function parse(text: string | undefined): { type: string; position: string; nth: number } | undefined {
  const [type, position, nth = "1"] = text?.split(":") ?? [];
  return type && position ? { type, position, nth: Number(nth) } : undefined;
}

export function crashPoint(position: Position, types: () => string[]): void {
  if (wanted?.position !== position) return;
  const before = seen;
  seen += types().filter((type) => type === wanted.type).length;
  if (before >= wanted.nth || seen < wanted.nth) return;
  process.kill(process.pid, "SIGKILL");
  // The signal may arrive late, and nothing may run until then.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
