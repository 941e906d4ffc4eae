import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { diagnoseDatabase } from "../../src/doctor/diagnose-database.ts";
import { diagnoseTerminal } from "../../src/doctor/diagnose-terminal.ts";
import { diagnoseTokens } from "../../src/doctor/diagnose-tokens.ts";
import { offlineModel } from "../../src/offline/model.ts";
import { TokenFolder } from "../../src/serve/token-folder.ts";

class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "cinch-doctor-"));
  readonly db = join(this.path, "cinch.db");

  async makeStore(): Promise<void> {
    const store = sqliteStore({ path: this.db });
    await store.open();
    await store.close();
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 9 });
  }
}

test("a database is checked, and one that is not there is no problem", async () => {
  using folder = new Folder();
  const [missing, space] = await diagnoseDatabase(join(folder.path, "deep", "cinch.db"));
  assert.deepEqual([missing?.status, space?.area], ["ok", "database"]);
  assert.match(space!.message, /^\d+ MB free/);
  await folder.makeStore();
  const [sound] = await diagnoseDatabase(folder.db);
  assert.equal(sound?.status, "ok");
  assert.match(sound.message, /cinch\.db: 0 threads, 1 MB, format \d+, integrity checked$/);
});

test("a database below a file can't be made", async () => {
  using folder = new Folder();
  writeFileSync(join(folder.path, "plain"), "");
  const [found] = await diagnoseDatabase(join(folder.path, "plain", "cinch.db"));
  assert.equal(found?.status, "fail");
  assert.match(found.message, /cinch\.db can't be written \(ENOTDIR: not a directory\)$/);
  assert.equal(found.next, "make it writable, or use --db FILE");
});

test("one thread is counted as one", async () => {
  using folder = new Folder();
  const harness = new Harness({
    id: "test",
    agent: new Agent({ name: "test", model: offlineModel({ delayMs: 0 }) }),
    storage: sqliteStore({ path: folder.db }),
  });
  await harness.sendMessage({ content: "hello" });
  await harness.close();
  const [found] = await diagnoseDatabase(folder.db);
  assert.match(found!.message, /cinch\.db: 1 thread, /);
});

test("a damaged, a foreign and a newer database fail, each with its reason and the next step", async () => {
  using folder = new Folder();
  await folder.makeStore();
  const whole = readFileSync(folder.db);
  const broken = Buffer.from(whole);
  broken.fill(0xab, 2048 * 3, 2048 * 9);
  const cases: [RegExp, RegExp, () => void][] = [
    [/is damaged: /, /backup/, () => writeFileSync(folder.db, broken)],
    [
      /can't be opened: .*not a database/,
      /backup/,
      () => writeFileSync(folder.db, "a text that is long enough ".repeat(200)),
    ],
    [/can't be opened: .*newer release/, /update cinch/, () => newer(folder.db, whole)],
  ];
  for (const [reason, next, spoil] of cases) {
    spoil();
    const [found] = await diagnoseDatabase(folder.db);
    assert.equal(found?.status, "fail");
    assert.match(found.message, reason);
    assert.match(found.next!, next);
  }
});

function newer(path: string, whole: Buffer): void {
  writeFileSync(path, whole);
  const db = new DatabaseSync(path);
  db.exec("PRAGMA user_version = 9999");
  db.close();
}

test("the people with tokens are named, and a file that others can read is a warning", () => {
  using folder = new Folder();
  const place = { folder: folder.path, env: { HOME: folder.path } };
  assert.deepEqual(diagnoseTokens(place), []);
  const tokens = new TokenFolder(place);
  tokens.add({ name: "bob", may: ["read"] });
  tokens.add({ name: "ann", may: ["read"] });
  assert.deepEqual(diagnoseTokens(place), [{ area: "tokens", status: "ok", message: "ann, bob" }]);
  const [file = ""] = tokens.files();
  chmodSync(file, 0o644);
  const [, warning] = diagnoseTokens(place);
  assert.deepEqual([warning!.status, warning!.next], ["warn", `chmod 600 ${file}`]);
});

test("a terminal is described, and what it lacks has a next step", () => {
  const size = { columns: 80, rows: 24 };
  const of = (env: Record<string, string>, at = size) => diagnoseTerminal(env, at)[0]!;
  assert.deepEqual(of({ TERM: "xterm", LANG: "C.UTF-8" }), {
    area: "terminal",
    status: "ok",
    message: "80 × 24, TERM xterm, colours, UTF-8, reflow",
  });
  assert.match(of({ TERM: "xterm", LANG: "C" }).next!, /LANG=C\.UTF-8/);
  assert.match(of({ TERM: "dumb" }).next!, /set TERM/);
  assert.match(of({ TERM: "xterm" }, { columns: 20, rows: 5 }).next!, /80 × 24/);
  assert.equal(diagnoseTerminal({}, undefined)[0]?.status, "ok");
});
