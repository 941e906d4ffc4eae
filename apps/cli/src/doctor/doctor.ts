import { styleText } from "node:util";
import type { ReportOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { plain } from "../terminal/sanitise.ts";
import { terminalJson } from "../terminal-json.ts";
import { chosenDatabase } from "../threads/open-store.ts";
import { diagnoseDatabase } from "./diagnose-database.ts";
import { diagnoseConfig, diagnoseTrust } from "./diagnose-config.ts";
import { diagnoseKeys } from "./diagnose-keys.ts";
import { diagnoseRuntime } from "./diagnose-runtime.ts";
import { diagnoseSandbox } from "./diagnose-sandbox.ts";
import { diagnoseTerminal } from "./diagnose-terminal.ts";
import { diagnoseTokens } from "./diagnose-tokens.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** `cinch doctor`. */
export async function doctor({ db, json }: ReportOptions): Promise<number> {
  const { env, stdout } = process;
  const folder = process.cwd();
  const size = stdout.isTTY ? { columns: stdout.columns, rows: stdout.rows } : undefined;
  const findings: Diagnosis[] = [
    ...diagnoseRuntime(),
    ...diagnoseTerminal(env, size),
    ...(await diagnoseSandbox(folder)),
    ...diagnoseKeys(env),
    ...(await diagnoseDatabase(chosenDatabase({ db }).path)),
    ...(await diagnoseConfig({ folder, env })),
    ...diagnoseTrust({ folder, env }),
    ...diagnoseTokens({ folder, env }),
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
