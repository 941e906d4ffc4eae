import { styleText } from "node:util";
import type { ReportOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { plain } from "../terminal/sanitise.ts";
import { terminalJson } from "../terminal-json.ts";
import { chosenDatabase } from "../threads/open-store.ts";
import { checkDatabaseFile } from "./check-database-file.ts";
import { checkRuntime } from "./check-runtime.ts";
import { checkSandbox } from "./check-sandbox.ts";
import { checkTerminal } from "./check-terminal.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** `cinch doctor`. */
export async function doctor({ db, json }: ReportOptions): Promise<number> {
  const { env, stdout } = process;
  const size = stdout.isTTY ? { columns: stdout.columns, rows: stdout.rows } : undefined;
  const findings: Diagnosis[] = [
    ...checkRuntime(),
    ...checkTerminal(env, size),
    ...(await checkSandbox(process.cwd())),
    ...(await checkDatabaseFile(chosenDatabase({ db }).path)),
  ];
  const failed = findings.some(({ status }) => status === "fail");
  stdout.write(json ? `${terminalJson({ ok: !failed, findings }, 2)}\n` : findings.map(lines).join(""));
  return failed ? ExitCode.error : ExitCode.complete;
}

const STYLES = { ok: "green", warn: "yellow", fail: "red" } as const;

function lines({ area, status, message, next }: Diagnosis): string {
  const mark = styleText(STYLES[status], status.padEnd(4), { stream: process.stdout });
  const todo = next === undefined ? "" : `${" ".repeat(16)}→ ${plain(next)}\n`;
  return `${mark}  ${area.padEnd(8)}  ${plain(message)}\n${todo}`;
}
