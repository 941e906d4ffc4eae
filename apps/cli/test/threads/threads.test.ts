import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { say, script } from "@cinch/testkit";
import { Place } from "../cli.ts";

/** Writes a thread for each title, oldest first, and returns their ids. */
async function threadsIn(
  place: Place,
  titles: readonly string[],
  { silent = [] }: { silent?: readonly string[] } = {},
): Promise<string[]> {
  place.trust();
  const storage = sqliteStore({ path: join(place.folder, ".cinch", "cinch.db") });
  const agent = new Agent({ name: "a", model: script(say("noted")) });
  const harness = new Harness({ id: "h", storage, agent });
  const ids: string[] = [];
  for (const title of titles) {
    ids.push((await harness.createThread({ title })).id);
    if (!silent.includes(title)) await harness.sendMessage({ content: `tell me of ${title}` });
  }
  await harness.close();
  return ids;
}

describe("cinch threads", { concurrency: 2 }, () => {
  test("list has the newest first, as lines and as JSON, and finds words", async () => {
    await using place = new Place();
    const [sums = "", notes = ""] = await threadsIn(place, ["sums", "release\u001b[31m notes"]);
    const text = await place.run(["threads", "list"]);
    assert.deepEqual([text.code, text.stderr], [0, ""]);
    assert.equal(text.stdout, `${notes}  idle            now  release notes\n${sums}  idle            now  sums\n`);
    const json = await place.run(["threads", "list", "--json", "--limit", "1"]);
    const [listed, ...others] = JSON.parse(json.stdout) as { id: string; title: string; status: string }[];
    assert.deepEqual([listed?.id, listed?.status, others], [notes, "idle", []]);
    const found = await place.run(["threads", "--query", "tell sums"]);
    assert.equal(found.stdout.split("  ")[0], sums);
  });

  test("a folder without a database has no threads, but a database that is named must exist", async () => {
    await using place = new Place();
    const none = await place.run(["threads", "list", "--json"]);
    assert.deepEqual([none.code, none.stdout], [0, "[]\n"]);
    const wrong = await place.run(["threads", "list", "--db", "wrong.db"]);
    assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
    assert.match(wrong.stderr, /wrong\.db does not exist/);
    assert.ok(!existsSync(join(place.folder, ".cinch")) && !existsSync(join(place.folder, "wrong.db")));
  });

  test("a thread is shown and exported by the beginning of its id", async () => {
    await using place = new Place();
    const [id = ""] = await threadsIn(place, ["sums"]);
    const shown = await place.run(["threads", "show", id.slice(0, 12)]);
    assert.match(shown.stdout, /^sums\nthread_[^]*\n\nYou\n {2}tell me of sums\n\ncinch\n {2}noted\n$/);
    const html = await place.run(["threads", "export", id.slice("thread_".length), "--format=html", "-o", "t.html"]);
    assert.deepEqual([html.code, html.stdout, html.stderr], [0, "", ""]);
    const file = join(place.folder, "t.html");
    assert.match(readFileSync(file, "utf8"), /^<!doctype html>[^]*noted/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    writeFileSync(join(place.folder, "public.md"), "before", { mode: 0o644 });
    assert.equal((await place.run(["threads", "export", id, "-o", "public.md"])).code, 0);
    assert.match(readFileSync(join(place.folder, "public.md"), "utf8"), /^# sums[^]*noted/);
    assert.equal(statSync(join(place.folder, "public.md")).mode & 0o777, 0o600);
    const nowhere = await place.run(["threads", "export", id, "-o", "no/such/folder.md"]);
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.stderr, /no\/such\/folder\.md can't be written/);
    const json = await place.run(["threads", "export", id, "--format", "json"]);
    const { messages } = JSON.parse(json.stdout) as { messages: { role: string }[] };
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant"],
    );
  });

  test("--continue does not mean a thread in which nothing was said yet", async () => {
    await using place = new Place();
    await threadsIn(place, ["sums", ""], { silent: [""] });
    const { stdout } = await place.run(["run", "--continue", "what did I say first?"]);
    assert.equal(stdout, 'First you said: "tell me of sums"\n');
  });

  test("an id that is unknown or means several threads is refused, with those that are known", async () => {
    await using place = new Place();
    const [one = "", two = ""] = await threadsIn(place, ["sums", "notes"]);
    const unknown = await place.run(["threads", "show", "thread_nowhere"]);
    assert.deepEqual([unknown.code, unknown.stdout], [2, ""]);
    assert.match(
      unknown.stderr,
      new RegExp(`no thread "thread_nowhere" .*\nThe newest are:\n  ${two}  notes\n  ${one}`),
    );
    const both = await place.run(["threads", "delete", "thread_", "--yes"]);
    assert.deepEqual([both.code, both.stderr.split("\n")[0]], [2, 'cinch: 2 threads begin with "thread_":']);
  });

  test("delete needs --yes where it can't ask, and deletes one thread", async () => {
    await using place = new Place();
    const [one = "", two = ""] = await threadsIn(place, ["sums", "notes"]);
    const unsure = await place.run(["threads", "delete", one]);
    assert.equal(unsure.code, 2);
    assert.match(unsure.stderr, new RegExp(`cinch threads delete ${one} --yes`));
    const sure = await place.run(["threads", "delete", one, "--yes"]);
    assert.deepEqual([sure.code, sure.stdout, sure.stderr], [0, "", `deleted ${one}  sums\n`]);
    const left = JSON.parse((await place.run(["threads", "list", "--json"])).stdout) as { id: string }[];
    assert.deepEqual(
      left.map(({ id }) => id),
      [two],
    );
  });
});
