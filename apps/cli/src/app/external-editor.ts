import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "../models/providers.ts";

export type Edited = { kind: "edited"; text: string } | { kind: "failed"; reason: string };

/** Opens a text in the user's editor, which must have the terminal. The file is private, and removed afterwards. */
export async function editExternally(text: string, options: { extension: string; env: Env }): Promise<Edited> {
  const { extension, env } = options;
  const program = env["VISUAL"] || env["EDITOR"] || (process.platform === "win32" ? "notepad" : "vi");
  const folder = await mkdtemp(join(tmpdir(), "cinch-edit-"));
  const file = join(folder, `text.${extension}`);
  try {
    await writeFile(file, text, { mode: 0o600 });
    const problem = await run(program, file, env);
    if (problem !== null)
      return { kind: "failed", reason: `${program} ${problem}. Set VISUAL or EDITOR to your editor.` };
    // Editors end the last line; the user did not write that line end.
    return { kind: "edited", text: (await readFile(file, "utf8")).replace(/\r?\n$/, "") };
  } catch (error) {
    return { kind: "failed", reason: `The text was not edited: ${(error as Error).message}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What went wrong. The variable may hold a program with arguments, so a shell reads it. */
function run(program: string, file: string, env: Env): Promise<string | null> {
  const child =
    process.platform === "win32"
      ? spawn(`${program} "${file}"`, { stdio: "inherit", shell: true, env })
      : spawn("/bin/sh", ["-c", `${program} "$1"`, "sh", file], { stdio: "inherit", env });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(`can't be started: ${error.message}`));
    child.once("exit", (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? `code ${code}`}`));
  });
}
