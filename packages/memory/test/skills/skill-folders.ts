import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkspace, memoryBackend } from "@cinch/workspace";

/** The text of a SKILL.md. */
export const skill = (name: string, { about = `Does ${name}.`, more = "", body = `How to do ${name}.` } = {}): string =>
  `---\nname: ${name}\ndescription: ${about}\n${more}---\n${body}\n`;

export async function workspaceWith(files: Record<string, string>, options: { trusted?: boolean } = {}) {
  const workspace = createWorkspace({ backend: memoryBackend(), ...options });
  await workspace.upload(files);
  return workspace;
}

/** A folder of the machine, removed at the end of the test. */
export async function folderWith(files: Record<string, string | Uint8Array>) {
  const path = await mkdtemp(join(await realpath(tmpdir()), "cinch-skills-"));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(path, name, ".."), { recursive: true });
    await writeFile(join(path, name), text);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 9 }) };
}
