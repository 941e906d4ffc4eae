import assert from "node:assert/strict";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, test } from "node:test";
import { Place } from "../cli.ts";
import { runWithMounts } from "../mounted.ts";
import { Served, StreamText } from "./served.ts";

const filesIn = (place: Place): string[] =>
  globSync("**/tokens/*", { cwd: join(place.home, ".local/state/cinch") }).map((file) =>
    join(place.home, ".local/state/cinch", file),
  );

const UNWRITABLE =
  /^cinch: \S+ can't be made or written \(E\w+: [\w -]+\)\. Make it writable, or name another folder with XDG_STATE_HOME\.\n$/;

/** Adds a token, which makes the folder. When it is read-only, adds another, and revokes the first. */
const READ_ONLY_STATE = `
  mount -t tmpfs -o size=64m cinch "$1" && "$2" "$3" token add ann --may read 2>/dev/null && mount -o remount,ro "$1" || exit
  "$2" "$3" token add bob --may read && exit 1
  "$2" "$3" token revoke ann && exit 1; exit 0`;

describe("cinch token", { concurrency: 3 }, () => {
  test("a token is printed once, and kept as a hash in a file that only its user can read", async () => {
    await using place = new Place();
    const added = await place.run(["token", "add", "ann", "--may", "approve,read"]);
    assert.equal(added.code, 0);
    const token = added.stdout.trim();
    assert.match(token, /^cinch_[\w-]{43}$/);
    const [file, ...more] = filesIn(place);
    assert.deepEqual(more, []);
    assert.equal(statSync(file!).mode & 0o777, 0o600);
    assert.ok(!readFileSync(file!, "utf8").includes(token));
    const listed = await place.run(["token", "list", "--json"]);
    const [{ at, ...ann }] = JSON.parse(listed.stdout) as [{ at: number }];
    assert.deepEqual(ann, { name: "ann", may: ["read", "approve"] });
    assert.ok(at > 0);
    assert.ok(!listed.stdout.includes(token));
    const revoked = await place.run(["token", "revoke", "ann"]);
    assert.equal(revoked.code, 0);
    assert.deepEqual(filesIn(place), []);
  });

  test("a wrong name, role or person is refused, and nothing is written", async () => {
    await using place = new Place();
    const wrong: [string[], RegExp][] = [
      [["add", "../ann", "--may", "read"], /"\.\.\/ann" can't be a name/],
      [["add", "ann", "--may", "read,rule"], /There is no role "rule"\. The roles are read, talk, approve, manage/],
      [["add", "ann"], /--may read,talk,approve/],
      [["revoke", "bob"], /There is no token "bob"/],
    ];
    for (const [args, message] of wrong) {
      const { code, stderr } = await place.run(["token", ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
    assert.deepEqual(filesIn(place), []);
  });

  test("a state folder that can't be made is named, with what to do", async () => {
    await using place = new Place();
    const state = join(place.home, "plain");
    writeFileSync(state, "");
    const { code, stderr } = await place.run(["token", "add", "ann", "--may", "read"], {
      env: { XDG_STATE_HOME: state },
    });
    assert.equal(code, 1);
    assert.match(stderr, UNWRITABLE);
    assert.ok(stderr.startsWith(`cinch: ${state}/cinch/projects/`), stderr);
  });

  test("a state folder that became read-only is named, with what to do", async (t) => {
    await using place = new Place();
    const env = { HOME: place.home, XDG_STATE_HOME: place.home };
    const ran = await runWithMounts(t, READ_ONLY_STATE, { folder: place.home, env, cwd: place.folder });
    if (!ran) return;
    const [add, revoke] = ran.stderr.split(/^(?=cinch: )/m);
    assert.match(add!, UNWRITABLE);
    assert.match(add!, /\/tokens can't be made or written \(EROFS: /);
    assert.equal(revoke, add);
  });

  test("of several processes that add the same person one succeeds, and others do not disturb it", async () => {
    await using place = new Place();
    const names = ["ann", "ann", "ann", "bob"];
    const added = await Promise.all(names.map((name) => place.run(["token", "add", name, "--may", "read"])));
    assert.deepEqual(added.map(({ code }) => code).toSorted(), [0, 0, 2, 2]);
    const [ann] = added.filter(({ code }) => code === 0);
    const { stdout } = await place.run(["token", "list"]);
    assert.match(stdout, /^ann .*\nbob .*\n$/);
    const served = await Served.start(place, { token: ann!.stdout.trim() });
    assert.equal((await served.get("/v1/threads")).status, 200);
    assert.doesNotMatch(served.running.stdout, /#token/);
  });

  test("a server that runs knows a new token, and revoking one ends the streams of this person alone", async () => {
    await using place = new Place();
    const owner = await Served.start(place);
    const id = await owner.thread();
    const add = async (name: string) => {
      const { stdout } = await place.run(["token", "add", name, "--may", "read,talk"]);
      return owner.as(stdout.trim());
    };
    const [ann, bob] = [await add("ann"), await add("bob")];
    for (const person of [ann, bob]) while ((await person.get("/v1/threads")).status !== 200) await delay(20);
    const events = `/v1/threads/${id}/events`;
    const streams = { ann: new StreamText(await ann.get(events)), bob: new StreamText(await bob.get(events)) };
    const list = new StreamText(await ann.get("/v1/events"));
    await ann.post(`/v1/threads/${id}/renameThread`, { title: "by ann" });
    await streams.bob.until(/"thread_renamed".*"by":"ann"|"by":"ann".*"thread_renamed"/);
    await place.run(["token", "revoke", "ann"]);
    await Promise.all([streams.ann.ended, list.ended]);
    assert.equal((await ann.get("/v1/threads")).status, 401);
    await bob.post(`/v1/threads/${id}/renameThread`, { title: "still here" });
    await streams.bob.until(/still here/);
    assert.doesNotMatch(streams.ann.text, /still here/);
  });

  test("a token is for the folder in which it was made", async () => {
    await using place = new Place();
    await using other = new Place();
    const { stdout } = await place.run(["token", "add", "ann", "--may", "read"]);
    const served = await Served.start(other, { env: { HOME: place.home } });
    assert.equal((await served.as(stdout.trim()).get("/v1/threads")).status, 401);
  });
});
