import { constants, open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** The branch of the repository around a folder, or the first letters of its commit. `null`: there is no repository. */
export async function gitBranch(folder: string): Promise<string | null> {
  for (let at = folder; ; at = dirname(at)) {
    const head = await headIn(at);
    if (head !== null) return branchOf(head);
    if (dirname(at) === at) return null;
  }
}

async function headIn(folder: string): Promise<string | null> {
  const git = join(folder, ".git");
  const head = await contents(join(git, "HEAD"));
  if (head !== null) return head;
  // In a worktree and in a submodule, .git is a file that names the real folder.
  const real = /^gitdir: (.+)$/m.exec((await contents(git)) ?? "")?.[1];
  return real === undefined ? null : contents(join(resolve(folder, real), "HEAD"));
}

/** More than any branch needs. */
const MAX_BYTES = 4_096;

/** A folder that is not trusted may have a pipe or a device there: neither is waited for, and no file is read whole. */
async function contents(file: string): Promise<string | null> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) return null;
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(MAX_BYTES) });
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return null;
  }
}

function branchOf(head: string): string | null {
  const branch = /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1];
  return branch ?? (head.trim().slice(0, 7) || null);
}
