import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import { inherited, Place, threadIn } from "../cli.ts";
import { MAIN } from "../programs.ts";
import { PseudoTerminal } from "../terminal/pseudo-terminal.ts";

test("in a terminal, delete asks, and only y deletes", async () => {
  await using place = new Place();
  const id = threadIn(await place.run(["run", "hello"]));
  const path = join(place.folder, ".cinch", "cinch.db");
  using terminal = new PseudoTerminal({ ...inherited(), HOME: place.home });
  const isThere = async () => {
    const store = sqliteStore({ path });
    await store.open();
    const thread = await store.thread(id);
    await store.close();
    return thread !== undefined;
  };
  const command = `clear; '${process.execPath}' '${MAIN}' threads delete ${id} --db '${path}'\r`;
  terminal.type(command);
  await terminal.until(/for good\? y \/ n/);
  terminal.type("\r");
  await terminal.until(/Nothing was deleted/);
  assert.ok(await isThere());
  terminal.type(command);
  await terminal.until(/for good\? y \/ n/);
  terminal.type("y\r");
  await terminal.until(/^deleted thread_/m);
  assert.ok(!(await isThere()));
});
