import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import type { DurableEvent, Harness } from "@cinch/core";
import { bundle } from "../../testkit/test/bundle.ts";
import {
  edit,
  folder,
  outcomes,
  read,
  remove,
  write,
  type Calls,
  type Folder,
} from "../../workspace/test/undo/desk.ts";
import { filesHarness, type FilesOptions } from "./files-harness.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const program = await bundle(new URL("./programs/files-worker.ts", import.meta.url));
/** In the first turn, and in the one that is rewound. */
const before: Calls[] = [write("/memories/a.txt", "a\n"), write("/memories/b.txt", "b\n"), write("/c.txt", "c\n")];
const after: Calls[] = [
  read("/memories/a.txt"),
  edit("/memories/a.txt", "a", "A"),
  remove("/memories/b.txt"),
  write("/memories/new.txt", "new\n"),
  write("/d.txt", "d\n"),
];

/** A front in this process, and workers in others. */
class FilesTeam implements AsyncDisposable {
  readonly place: Place;
  readonly options: FilesOptions;
  readonly front: Harness;
  readonly root: Folder | undefined;

  private constructor(place: Place, root: Folder | undefined) {
    this.place = place;
    this.root = root;
    this.options = { store: place.options, ...(root && { root: root.path }) };
    this.front = place.add(filesHarness(this.options));
  }

  static async make(where: "a folder" | "the store"): Promise<FilesTeam> {
    const team = new FilesTeam(await Place.make(), where === "a folder" ? folder() : undefined);
    await team.front.init();
    return team;
  }

  async worker({ hangs = false } = {}): Promise<ChildProcess> {
    const child = fork(program, [JSON.stringify({ ...this.options, hangs })], { execArgv: [] });
    this.place.add({ close: async () => void child.kill("SIGKILL") });
    await once(child, "message");
    return child;
  }

  async turn(steps: readonly Calls[]): Promise<void> {
    const { reason, error } = await this.front.sendMessage({ content: JSON.stringify(steps) });
    assert.deepEqual([reason, error], ["complete", undefined]);
  }

  /** What a worker reads of these files. */
  async texts(...paths: string[]): Promise<string[]> {
    await this.turn(paths.map((path) => read(path)));
    const results = (await this.events()).flatMap((event) => (event.type === "tool_end" ? [event] : []));
    return results.slice(-paths.length).map(({ result }) => String(result.content));
  }

  async events(): Promise<DurableEvent[]> {
    return (await this.place.store()).read(this.front.getCurrentThreadId()!);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.place[Symbol.asyncDispose]();
    await this.place.query(`DROP SCHEMA IF EXISTS "${this.place.schema}_wakes" CASCADE`);
    this.root?.[Symbol.dispose]();
  }
}

describe("a rewind of files at a front", { concurrency: true }, () => {
  for (const where of ["a folder", "the store"] as const) {
    test(`is carried out by a worker, with files in ${where}`, async () => {
      await using team = await FilesTeam.make(where);
      await team.worker();
      await assertRewinds(team, () => Promise.resolve());
    });

    test(`is finished by another worker when the first one is killed in the middle, with files in ${where}`, async () => {
      await using team = await FilesTeam.make(where);
      const dying = await team.worker({ hangs: true });
      await assertRewinds(team, async () => {
        dying.send("rewind");
        await once(dying, "message");
        // What the turn has created is deleted by now, and what it has changed is not restored.
        if (team.root) assert.deepEqual(team.root.all(), { "memories/a.txt": "A\n", "c.txt": "c\n" });
        dying.kill("SIGKILL");
        await team.worker();
      });
    });
  }
});

/** `meanwhile` begins before the rewind, and lasts until it may end. */
async function assertRewinds(team: FilesTeam, meanwhile: () => Promise<void>): Promise<void> {
  const { front } = team;
  await front.createThread();
  await team.turn(before);
  const { seq: toSeq } = front.getDisplayState();
  const shown = front.getDisplayState().messages;
  await team.turn(after);
  const happening = meanwhile();
  const { files } = await front.rewind({ toSeq, files: true });
  await happening;
  const expected = {
    "/memories/a.txt": "restored",
    "/memories/b.txt": "restored",
    "/memories/new.txt": "deleted",
    "/d.txt": "deleted",
  };
  assert.deepEqual(outcomes(files), expected);
  assert.deepEqual(front.getDisplayState().messages, shown);
  if (team.root)
    assert.deepEqual(team.root.all(), { "memories/a.txt": "a\n", "memories/b.txt": "b\n", "c.txt": "c\n" });
  const texts = await team.texts("/memories/a.txt", "/memories/b.txt", "/c.txt", "/memories/new.txt", "/d.txt");
  assert.deepEqual(
    texts.slice(0, 3).map((text) => text.at(-1)),
    ["a", "b", "c"],
  );
  assert.ok(
    texts.slice(3).every((text) => text.startsWith("There is no file")),
    texts.join("\n"),
  );
  await until("no thread is driven", async () => (await front.metrics()).drivenByAll === 0);
}
