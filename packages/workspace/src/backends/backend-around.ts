import type { WorkspaceHost } from "@cinch/core/workspace";
import type { Backend, Reach } from "../backend.ts";

/** Forwards the calls that a backend around another one does not change. */
export abstract class BackendAround {
  protected readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  get isLocal(): boolean {
    return this.backend.isLocal ?? false;
  }

  async resolve(path: string, reach: Reach): Promise<string> {
    return (await this.backend.resolve?.(path, reach)) ?? path;
  }

  async whereIs(real: string): Promise<string[]> {
    return (await this.backend.whereIs?.(real)) ?? [];
  }

  async open(host: WorkspaceHost): Promise<void> {
    await this.backend.open?.(host);
  }

  async close(): Promise<void> {
    await this.backend.close?.();
  }
}
