import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import { tokenHash } from "@cinch/server";
import { LiveTokens } from "../../src/serve/live-tokens.ts";
import { TokenFolder } from "../../src/serve/token-folder.ts";

class Tokens {
  readonly home = mkdtempSync(join(tmpdir(), "cinch-tokens-"));
  readonly folder = new TokenFolder({ folder: this.home, env: { HOME: this.home } });
  readonly failures: unknown[] = [];
  readonly live = new LiveTokens({
    folder: this.folder,
    most: ["read", "talk"],
    failed: (error) => this.failures.push(error),
  });

  async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) await delay(10);
  }

  [Symbol.dispose](): void {
    this.live[Symbol.dispose]();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 9 });
  }
}

test("a token that is added, replaced and revoked at once is seen as it is in the end", async () => {
  using tokens = new Tokens();
  tokens.folder.add({ name: "ann", may: ["read", "approve"] });
  await tokens.until(() => tokens.live.holders.length === 1);
  const [first] = tokens.live.holders;
  assert.deepEqual([first!.by, first!.may], ["ann", ["read"]]);
  // All of it may happen between two looks at the folder.
  for (let at = 0; at < 50; at += 1) {
    tokens.folder.revoke("ann");
    tokens.folder.add({ name: "ann", may: ["read", "talk"] });
  }
  tokens.folder.revoke("ann");
  const last = tokens.folder.add({ name: "ann", may: ["talk"] });
  await tokens.until(() => tokens.live.holders[0]?.sha256 === tokenHash(last));
  assert.ok(first!.signal!.aborted);
  assert.ok(!tokens.live.holders[0]!.signal!.aborted);
});

test("a file that is no token gives access to nothing, and hides no other", async () => {
  using tokens = new Tokens();
  tokens.folder.add({ name: "ann", may: ["read"] });
  const [file = ""] = tokens.folder.files();
  writeFileSync(join(dirname(file), "bob.json"), '{"name":"bob","sha256":"","may":["read"],"at":1}');
  writeFileSync(join(dirname(file), "cat.json"), "{");
  await tokens.until(() => tokens.live.holders.length === 1);
  assert.deepEqual(
    tokens.folder.list().map(({ name }) => name),
    ["ann"],
  );
});

test("a file that can't be read is reported once, takes no access, and keeps none from being revoked", async () => {
  using tokens = new Tokens();
  tokens.folder.add({ name: "ann", may: ["read"] });
  await tokens.until(() => tokens.live.holders.length === 1);
  const [holder] = tokens.live.holders;
  const [file = ""] = tokens.folder.files();
  const folder = dirname(file);
  // A folder in the place of a file can't be read, whoever the user is.
  mkdirSync(join(folder, "bob.json"));
  await tokens.until(() => tokens.failures.length > 0);
  await delay(600);
  assert.equal(tokens.failures.length, 1);
  assert.ok(!holder!.signal!.aborted);
  tokens.folder.revoke("ann");
  await tokens.until(() => holder!.signal!.aborted);
  assert.deepEqual(tokens.live.holders, []);
});
