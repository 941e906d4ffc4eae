import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reach } from "@cinch/workspace/backend";

export const reach: Reach = { threadId: "thread", resourceId: "me" };

/** A folder that is removed after the test. */
export class TemporaryFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(await realpath(tmpdir()), "cinch-files-")));
  }

  at(...names: string[]): string {
    return join(this.path, ...names);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 9 });
  }
}
