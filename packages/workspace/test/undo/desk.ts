import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Agent, Harness, memoryStore, type HarnessConfig, type HarnessEvent, type Store } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import { localWorkspace, type FileWorkspace } from "@cinch/workspace";

/** A folder that is removed after the test. */
export function folder(files: Record<string, string> = {}) {
  const path = mkdtempSync(join(tmpdir(), "cinch-undo-"));
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  for (const [name, text] of Object.entries(files)) put(name, text);
  return {
    path,
    put,
    text: (name: string) => readFileSync(join(path, name), "utf8"),
    mode: (name: string) => statSync(join(path, name)).mode & 0o777,
    /** All files in it. A file that a running harness removes before it is read is left out. */
    all: () => contentsOf(path),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 9 }),
  };
}

export type Folder = ReturnType<typeof folder>;

function contentsOf(root: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of ifThere(() => readdirSync(join(root, below), { withFileTypes: true })) ?? []) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) Object.assign(found, contentsOf(root, path));
    else {
      const text = ifThere(() => readFileSync(join(root, path), "latin1"));
      if (text !== undefined) found[path] = text;
    }
  }
  return found;
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export type Calls = [tool: string, args: unknown][];

/** A model that makes the calls in the last message, which is JSON: a list of steps, each with one or several calls. */
export const obedient = () =>
  scriptedBy(({ prompt }) => {
    const asked = prompt.findLastIndex(({ role }) => role === "user");
    const message = prompt[asked];
    const text = message?.role === "user" ? message.content.flatMap((part) => ("text" in part ? part.text : [])) : [];
    const steps = JSON.parse(text.join("")) as Calls[];
    const step = steps[prompt.slice(asked).filter(({ role }) => role === "assistant").length];
    return step
      ? call(...step.map(([name, args], at) => [name, args, `${asked}-${at}`] as [string, unknown, string]))
      : say("done");
  });

export interface Desk {
  root: string;
  storage?: Store;
  workspace?: FileWorkspace;
  config?: Partial<HarnessConfig>;
}

/** A harness in a folder, in which every call may run. */
export async function desk({ root, storage = memoryStore(), workspace, config }: Desk) {
  const cache = workspace ? undefined : mkdtempSync(join(tmpdir(), "cinch-undo-cache-"));
  const h = new Harness({
    id: "undo",
    storage,
    agent: new Agent({ name: "a", model: obedient() }),
    workspace: workspace ?? localWorkspace({ root, sandbox: "none", ...(cache === undefined ? {} : { cache }) }),
    initialState: { yolo: true },
    ...config,
  });
  const events: HarnessEvent[] = [];
  h.subscribe((event) => events.push(event));
  await h.init();
  await h.selectOrCreateThread();
  /** Runs a turn with these steps. Returns the `seq` before it. */
  const turn = async (...steps: Calls[]) => {
    const { seq } = h.getDisplayState();
    const { reason, error } = await h.sendMessage({ content: JSON.stringify(steps) });
    if (reason !== "complete") throw new Error(`${reason}: ${error?.message}`);
    return seq;
  };
  const close = async () => {
    await h.close();
    if (cache !== undefined) rmSync(cache, { recursive: true, force: true, maxRetries: 9 });
  };
  return Object.assign(h, { turn, events, [Symbol.asyncDispose]: close });
}

export const write = (file_path: string, content: string): Calls => [["write_file", { file_path, content }]];
export const read = (file_path: string): Calls => [["read_file", { file_path }]];
export const edit = (file_path: string, old_string: string, new_string: string): Calls => [
  ["edit_file", { file_path, old_string, new_string }],
];
export const run = (command: string): Calls => [["execute", { command }]];
export const remove = (file_path: string): Calls => [["delete", { file_path }]];

/** By path. */
export const outcomes = (files: readonly { path: string; outcome: string }[]): Record<string, string> =>
  Object.fromEntries(files.map(({ path, outcome }) => [path, outcome]));
