import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { inherited, Place, threadIn } from "./cli.ts";
import { MAIN } from "./programs.ts";
import { PseudoTerminal } from "./terminal/pseudo-terminal.ts";

test("a thread to continue that is not there is a usage error, and writes nothing", async () => {
  await using place = new Place();
  const piped = await place.run(["--continue"]);
  assert.deepEqual([piped.code, piped.stdout], [2, ""]);
  assert.match(piped.stderr, /needs a terminal.*cinch run --continue/);
  using terminal = new PseudoTerminal({ ...inherited(), HOME: place.home });
  const cinch = `'${process.execPath}' '${MAIN}'`;
  terminal.type(`cd '${place.folder}'; clear; ${cinch} --continue; echo "first $?"\r`);
  await terminal.until(/^first 2$/m);
  assert.match(terminal.rows().join(" "), /no threads yet/);
  assert.ok(!existsSync(join(place.folder, ".cinch")));
  const id = threadIn(await place.run(["run", "hello"]));
  terminal.type(`clear; ${cinch} --resume thread_nowhere; echo "second $?"\r`);
  await terminal.until(/^second 2$/m);
  const shown = terminal.rows().join("\n");
  assert.match(shown, /There is no thread "thread_nowhere"/);
  assert.ok(shown.includes(id), shown);
});
