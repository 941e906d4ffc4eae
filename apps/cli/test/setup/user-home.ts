import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import type { Env } from "../../src/models/providers.ts";
import { openProject } from "../../src/setup/open-project.ts";
import type { Project, ProjectFlags } from "../../src/setup/project.ts";

/** A user with a home, and a project in it. */
export class UserHome {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "cinch-home-")));
  readonly folder = join(this.home, "shop");
  readonly config = join(this.home, ".config/cinch");
  readonly state = join(this.home, ".local/state/cinch");
  readonly env: Env;
  readonly #open: Project[] = [];

  constructor(env: Env = {}) {
    this.env = { HOME: this.home, PATH: process.env["PATH"], CINCH_OFFLINE_DELAY_MS: "0", ...env };
    mkdirSync(this.folder);
  }

  /** Files of the home, by their path in it. */
  write(files: Record<string, string | object>): this {
    for (const [path, contents] of Object.entries(files)) {
      mkdirSync(dirname(join(this.home, path)), { recursive: true });
      writeFileSync(join(this.home, path), typeof contents === "string" ? contents : JSON.stringify(contents));
    }
    return this;
  }

  /** What is opened for reading waits for a writer that never comes. */
  trap(...paths: string[]): this {
    for (const path of paths) {
      mkdirSync(dirname(join(this.home, path)), { recursive: true });
      execFileSync("mkfifo", [join(this.home, path)]);
    }
    return this;
  }

  async open(options: { flags?: ProjectFlags; trusted?: boolean; folder?: string; env?: Env } = {}): Promise<Project> {
    const { flags = {}, trusted = false, folder = this.folder, env = {} } = options;
    const project = await openProject({ folder, env: { ...this.env, ...env }, flags, trusted });
    this.#open.push(project);
    return project;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const project of this.#open) await project.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 9 });
  }
}

/** The environment in which a local server is the provider. */
export const served = (mock: LLMock): Env => ({ CINCH_MODEL: "openai-compatible/mock", CINCH_BASE_URL: mock.url });
