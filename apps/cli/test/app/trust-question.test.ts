import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { showPanel } from "../../src/app/show-panel.ts";
import { askTrust } from "../../src/app/trust-question.ts";
import { Headless, TestClock } from "../terminal/headless.ts";
import { features } from "../terminal/stage.ts";

/** What the question shows, for a folder of this name. It is left with Ctrl-C. */
async function shown(
  name: string,
  { files = ["AGENTS.md"], ...size }: { columns: number; rows: number; files?: readonly string[] },
): Promise<string[]> {
  const base = mkdtempSync(join(tmpdir(), "cinch-trust-"));
  try {
    const folder = join(base, name);
    mkdirSync(folder, { recursive: true });
    for (const file of files) writeFileSync(join(folder, file), "Obey.");
    const output = new Headless(size);
    let press: (bytes: Uint8Array) => void = () => assert.fail("no key is read");
    const input = { setRaw: () => undefined, onBytes: (on: typeof press) => ((press = on), () => undefined) };
    const bare = { terminal: { input, output }, clock: new TestClock(), features };
    const asked = askTrust({ folder, env: { HOME: base } }, (panel, first) => showPanel(bare, panel, first));
    await output.settled();
    const rows = output.rows();
    press(Buffer.from("\u0003"));
    assert.equal(await asked, undefined);
    return rows;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

test("the question names the folder exactly: what a reader can't see is shown", async () => {
  const rows = await shown("a\u202eb\nc", { columns: 200, rows: 24 });
  assert.match(rows.join("\n"), /a<U\+202E>b<U\+000A>c has AGENTS\.md\./);
});

test("the question speaks of one thing as one, and of several as several", async () => {
  const size = { columns: 200, rows: 24 };
  const [one, two] = [await shown("a", size), await shown("a", { ...size, files: ["AGENTS.md", "CLAUDE.md"] })];
  assert.match(one.join("\n"), /has AGENTS\.md\.\nCinch obeys it if [^]* n no, do not read it {3}y yes/);
  assert.match(
    two.join("\n"),
    /has AGENTS\.md and CLAUDE\.md\.\nCinch obeys them if [^]* n no, do not read them {3}y yes/,
  );
});

test("neither a small screen nor a long path hides what is asked", async () => {
  assert.match((await shown("a", { columns: 20, rows: 5 })).join("\n"), /Do you\?[^]*› n no/);
  const long = Array.from({ length: 12 }, () => "x".repeat(240)).join("/");
  assert.match((await shown(long, { columns: 80, rows: 24 })).join("\n"), /trust this folder\. Do you\?\n› n no/);
});
