import assert from "node:assert/strict";
import { test } from "node:test";
import { Place } from "../cli.ts";
import { runWithMounts } from "../mounted.ts";

/** A run on a full disk, and one when there is space again. Prints what the first leaves, and whether git ignores the threads. */
const FULL_DISK = `
  mount -t tmpfs -o size=2m cinch "$1" && mkdir "$1/project" && cd "$1/project" || exit
  head -c 4m /dev/zero > ../fill 2>/dev/null
  "$2" "$3" run hello && exit 1
  find . -type f
  rm ../fill; "$2" "$3" run hello >/dev/null || exit
  grep -c cinch.db .cinch/.gitignore; "$2" "$3" threads list`;

for (const isHomeFull of [false, true])
  test(`threads that a full disk kept from beginning need no trust later${isHomeFull ? ", if the home is on it, too" : ""}`, async (t) => {
    await using place = new Place();
    const env = { HOME: isHomeFull ? place.folder : place.home, CINCH_OFFLINE_DELAY_MS: "0" };
    const ran = await runWithMounts(t, FULL_DISK, { folder: place.folder, env });
    if (!ran) return;
    assert.match(
      ran.stderr,
      /^cinch: No disk space is left for \S+\/\.cinch, or for \S+\. Free some, and start again\.\n/,
    );
    assert.doesNotMatch(ran.stderr, /trust/);
    assert.match(ran.stdout, /^1\nthread_\S+ .*\n$/);
  });
