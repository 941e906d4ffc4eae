import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { showPanel, type AskPanel } from "../../src/app/show-panel.ts";
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
    rmSync(base, { recursive: true, force: true, maxRetries: 9 });
  }
}

test("the question names the folder exactly: what a reader can't see is shown", async () => {
  const rows = await shown("a\u202eb\nc", { columns: 200, rows: 24 });
  assert.match(rows.join("\n"), /a<U\+202E>b<U\+000A>c has AGENTS\.md\./);
});

test("a folder is trusted for this run when the answer can't be kept, and the user learns why", async () => {
  const base = mkdtempSync(join(tmpdir(), "cinch-trust-"));
  try {
    writeFileSync(join(base, "AGENTS.md"), "Obey.");
    writeFileSync(join(base, "plain"), "");
    const place = { folder: base, env: { HOME: base, XDG_STATE_HOME: join(base, "plain") } };
    const asked: string[] = [];
    const keys = ["y", "c"];
    const ask: AskPanel = async (panel, first) => {
      const context = { width: 500, rows: 20, now: 0, unicode: true, active: true };
      asked.push(
        panel
          .view(first, context)
          .lines.map(({ spans }) => spans.map((span) => span.text).join(""))
          .join("\n"),
      );
      const step = panel.reduce(first, { type: "text", text: keys.shift()! });
      return step.kind === "choice" ? step.choice : assert.fail("the key is no choice");
    };
    assert.equal(await askTrust(place, ask), true);
    assert.equal(asked.length, 2);
    const reason = "can't be made or written (ENOTDIR: not a directory).";
    const advice = "Make it writable, or name another folder with XDG_STATE_HOME.";
    assert.ok(asked[1]!.includes(`${join(base, "plain", "cinch")} ${reason} ${advice}`), asked[1]);
    assert.match(asked[1]!, /trusted until you leave, and the next start asks again/);
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 9 });
  }
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
