import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Env } from "../models/providers.ts";
import { SHOP } from "./shop.ts";

/** The throw-away project of the tour: real files in a folder that is removed at the end, also when the process exits. */
export class TourFolder {
  readonly path: string;

  constructor() {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), "cinch-tour-")));
    for (const [name, content] of Object.entries(SHOP)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      writeFileSync(join(this.path, name), content);
    }
    process.once("exit", this.#remove);
  }

  /** The environment of the tour: the user's own configuration must not change the story. */
  env(env: Env): Env {
    const own = join(this.path, ".tour");
    return { ...env, XDG_CONFIG_HOME: own, XDG_STATE_HOME: own };
  }

  /** Whether every file is as it was at the beginning. */
  isUntouched(): boolean {
    return Object.entries(SHOP).every(([name, content]) => this.#read(name) === content);
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#remove);
    this.#remove();
  }

  #read(name: string): string | undefined {
    try {
      return readFileSync(join(this.path, name), "utf8");
    } catch {
      return undefined;
    }
  }

  readonly #remove = (): void => rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
}
