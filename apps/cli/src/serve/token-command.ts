import { ROLES, type MayRole } from "@cinch/server";
import type { AddTokenOptions } from "../cli-command.ts";
import { ExitCode, UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { terminalJson } from "../terminal-json.ts";
import { ageOf } from "../threads/list-threads.ts";
import { TokenFolder, type PersonToken } from "./token-folder.ts";

const tokensHere = (): TokenFolder => new TokenFolder({ folder: process.cwd(), env: process.env });

/** `cinch token add`. Prints the token, once. */
export function addToken({ name, may }: AddTokenOptions): number {
  const roles = rolesOf(may);
  const token = tokensHere().add({ name, may: roles });
  process.stdout.write(`${token}\n`);
  process.stderr.write(
    `This is the token of ${name}, who may ${roles.join(", ")} in this folder. It is not shown again.\n`,
  );
  return ExitCode.complete;
}

/** `cinch token list`. */
export function listTokens({ json }: { json: boolean }): number {
  const tokens = tokensHere().list();
  const shown = tokens.map(({ name, may, at }) => ({ name, may, at }));
  process.stdout.write(json ? `${terminalJson(shown, 2)}\n` : tokens.map(line).join(""));
  if (tokens.length === 0 && !json)
    process.stderr.write(`There are no tokens for this folder yet: ${cinch} token add NAME --may read,talk,approve\n`);
  return ExitCode.complete;
}

const line = ({ name, may, at }: PersonToken): string =>
  `${name.padEnd(20)}  ${ageOf(Date.now() - at).padStart(7)}  ${may.join(", ")}\n`;

/** `cinch token revoke`. */
export function revokeToken({ name }: { name: string }): number {
  tokensHere().revoke(name);
  process.stderr.write(
    `${name} has no token any more. A server that runs ends the streams of ${name} within a second.\n`,
  );
  return ExitCode.complete;
}

function rolesOf(may: string): MayRole[] {
  const given = [...new Set(may.split(",").map((role) => role.trim()))];
  const unknown = given.find((role) => !(ROLES as readonly string[]).includes(role));
  if (unknown !== undefined) throw new UsageError(`There is no role "${unknown}". The roles are ${ROLES.join(", ")}.`);
  return ROLES.filter((role) => given.includes(role));
}
