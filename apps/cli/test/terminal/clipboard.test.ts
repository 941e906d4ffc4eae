import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { copyToClipboard } from "../../src/terminal/clipboard.ts";

async function copy(text: string, env: Record<string, string>) {
  const written: string[] = [];
  const output = { writeNow: (bytes: string) => void written.push(bytes) };
  return { result: await copyToClipboard(text, { output, env, platform: "linux" }), written: written.join("") };
}

test("without a window system, or over SSH, the terminal is given the text", async () => {
  const sequence = `\u001b]52;c;${Buffer.from("größe\n").toString("base64")}\u0007`;
  for (const env of [{}, { DISPLAY: ":0", SSH_TTY: "/dev/pts/1" }] as Record<string, string>[])
    assert.deepEqual(await copy("größe\n", env), { result: { ok: true, how: "terminal" }, written: sequence });
});

test("in tmux the sequence is sent to tmux and to the terminal around it", async () => {
  const { written } = await copy("x", { TMUX: "/tmp/tmux-0/default,1,0" });
  assert.equal(written, "\u001bPtmux;\u001b\u001b]52;c;eA==\u0007\u001b\\\u001b]52;c;eA==\u0007");
});

test("a text that is too long for a terminal is refused, with the next step", async () => {
  const { result, written } = await copy("x".repeat(100_000), {});
  assert.deepEqual(result, {
    ok: false,
    reason: "100000 bytes are too many for the terminal; install xclip, xsel or wl-copy",
  });
  assert.equal(written, "");
});

test("a program of the window system gets the text as it is; if it fails, the next one, then the terminal", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cinch-clipboard-"));
  const path = process.env["PATH"];
  const program = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  try {
    process.env["PATH"] = `${folder}:${path}`;
    program("xclip", "exit 1");
    program("xsel", `cat > ${folder}/copied`);
    const text = `${"line\n".repeat(50_000)}\u001b[2J`;
    assert.deepEqual((await copy(text, { DISPLAY: ":0" })).result, { ok: true, how: "xsel" });
    assert.equal(readFileSync(join(folder, "copied"), "utf8"), text);
    program("xsel", "exit 1");
    assert.deepEqual((await copy("x", { DISPLAY: ":0" })).result, { ok: true, how: "terminal" });
  } finally {
    process.env["PATH"] = path;
  }
});
