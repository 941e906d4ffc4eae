import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { directoryBackend, FileError, type DirectoryBackend } from "@cinch/workspace";
import type { Confinement } from "../../src/disk/folder.ts";
import { TemporaryFolder, reach } from "../temporary-folder.ts";

export const SECRET = "SECRET of somebody else";

/** A workspace with secret files beside it. */
export class Scene {
  readonly #place: TemporaryFolder;
  readonly backend: DirectoryBackend;

  constructor(place: TemporaryFolder, confinement?: Confinement) {
    this.#place = place;
    for (const folder of ["root/src", "outside/sub", "root-evil"]) mkdirSync(place.at(folder), { recursive: true });
    writeFileSync(this.outside("secret.txt"), SECRET);
    writeFileSync(this.outside("sub/deep.txt"), SECRET);
    writeFileSync(place.at("root-evil/secret.txt"), SECRET);
    writeFileSync(this.inside("src/a.txt"), "inside");
    this.backend = directoryBackend({ root: place.at("root"), ...(confinement && { confinement }) });
  }

  static async make(confinement?: Confinement): Promise<Scene> {
    return new Scene(await TemporaryFolder.make(), confinement);
  }

  get root(): string {
    return this.#place.at("root");
  }

  inside(path: string): string {
    return this.#place.at("root", path);
  }

  outside(path: string): string {
    return this.#place.at("outside", path);
  }

  beside(path: string): string {
    return this.#place.at(path);
  }

  link(path: string, target: string): void {
    mkdirSync(dirname(this.inside(path)), { recursive: true });
    symlinkSync(target, this.inside(path));
  }

  hardLink(path: string, target: string): void {
    linkSync(target, this.inside(path));
  }

  file(path: string, content: string): void {
    mkdirSync(dirname(this.inside(path)), { recursive: true });
    writeFileSync(this.inside(path), content);
  }

  run(command: string, ...args: string[]): void {
    execFileSync(command, args, { cwd: this.root });
  }

  /** Asserts that nothing beside the workspace has changed. */
  checkOutside(): void {
    assert.deepEqual(readdirSync(this.outside("."), { recursive: true }).toSorted(), [
      "secret.txt",
      "sub",
      "sub/deep.txt",
    ]);
    assert.deepEqual(readdirSync(this.beside(".")).toSorted(), ["outside", "root", "root-evil"]);
    for (const path of ["outside/secret.txt", "outside/sub/deep.txt", "root-evil/secret.txt"])
      assert.equal(readFileSync(this.beside(path), "utf8"), SECRET);
  }

  async read(path: string, direct = false): Promise<string> {
    let text = "";
    for await (const chunk of this.backend.read(path, {}, { ...reach, direct }))
      text += Buffer.from(chunk).toString("utf8");
    return text;
  }

  async write(path: string, text: string, ifVersion?: string | null): Promise<string> {
    async function* content() {
      yield new TextEncoder().encode(text);
    }
    await this.backend.write(path, content(), ifVersion === undefined ? {} : { ifVersion }, reach);
    return "written";
  }

  async list(path: string): Promise<string> {
    return (await this.backend.list(path, reach))
      .map((entry) => entry.path)
      .toSorted()
      .join(" ");
  }

  async stat(path: string): Promise<string> {
    const stat = await this.backend.stat(path, reach);
    return stat ? `${stat.type} ${stat.path}` : "nothing";
  }

  async delete(path: string): Promise<string> {
    await this.backend.delete(path, reach);
    return "deleted";
  }

  async glob(pattern: string, path = "/"): Promise<string> {
    const found: string[] = [];
    for await (const entry of this.backend.glob({ pattern, path }, reach)) found.push(entry.path);
    return found.toSorted().join(" ");
  }

  async grep(pattern: string, path = "/"): Promise<string> {
    const found: string[] = [];
    for await (const match of this.backend.grep({ pattern, path, regex: false, ignoreCase: false }, reach))
      found.push(`${match.path}:${match.text}`);
    return found.toSorted().join(" ");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place[Symbol.asyncDispose]();
  }
}

/** The result, or the problem of the error. Any error but a `FileError` is a defect. */
export async function outcome(work: Promise<string>): Promise<string> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof FileError) return error.problem;
    throw error;
  }
}
