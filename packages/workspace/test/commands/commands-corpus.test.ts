import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Fit } from "@cinch/core";
import { commandMatcher } from "@cinch/workspace";

/** Reads a list of lines under headings such as `## git push *: in words`. */
async function linesOf(name: string): Promise<{ pattern: string; line: string }[]> {
  const text = await readFile(join(import.meta.dirname, "corpus", `${name}.txt`), "utf8");
  let pattern = "";
  return text.split("\n").flatMap((line) => {
    if (line.startsWith("## ")) pattern = line.slice(3).split(": ")[0]!;
    return line === "" || /^##? /.test(line) ? [] : [{ pattern, line: line.replaceAll("⏎", "\n") }];
  });
}

async function check(name: string, { isRight, least }: { isRight: (fit: Fit) => boolean; least: number }) {
  const { matches } = await commandMatcher();
  const lines = await linesOf(name);
  assert.ok(lines.length >= least, `${lines.length} lines`);
  assert.deepEqual(
    lines.filter(({ pattern, line }) => !isRight(matches(pattern, line))),
    [],
  );
}

test("a deny matches every line that runs its program", () =>
  check("denied", { isRight: (fit) => fit !== "none", least: 1_300 }));

test("an allow covers no line that does more than its pattern", () =>
  check("uncovered", { isRight: (fit) => fit !== "all", least: 1_500 }));

test("an allow still covers everyday lines", () => check("covered", { isRight: (fit) => fit === "all", least: 200 }));

test("a deny does not match everyday lines", () => check("unbitten", { isRight: (fit) => fit === "none", least: 150 }));

test("the pattern that is suggested for a line that does more covers no other line", async () => {
  const { matches, suggest } = await commandMatcher();
  const lines = await linesOf("uncovered");
  const suggested = [...new Set(lines.map(({ line }) => suggest(line)))].filter((pattern) => pattern !== undefined);
  const wide = suggested.filter((pattern) =>
    lines.some(({ pattern: allowed, line }) => {
      return pattern.endsWith(" *") && allowed.startsWith(pattern.slice(0, -1)) && matches(pattern, line) === "all";
    }),
  );
  assert.deepEqual(wide, []);
});

test("a deny matches every line that runs the denied program in a real shell", async (t) => {
  if (!existsSync("/bin/bash")) return t.skip("no bash here");
  const bin = await mkdtemp(join(tmpdir(), "cinch-bin-"));
  t.after(() => rm(bin, { recursive: true, force: true, maxRetries: 9 }));
  await writeFile(join(bin, "git"), '#!/bin/sh\nprintf "%s\\n" "$*" >> "$LOG"\n');
  await chmod(join(bin, "git"), 0o755);
  const lines = (await linesOf("denied")).filter(({ pattern }) => pattern === "git push *");
  // Only every tenth, since each takes a process. All of them were run when they were written.
  const tried = lines.filter((_, at) => at % 10 === 0);
  const { matches } = await commandMatcher();
  let ran = 0;
  for (const { line } of tried) {
    const cwd = await mkdtemp(join(bin, "run-"));
    const log = `${cwd}.log`;
    const env = { PATH: `${bin}:/usr/bin:/bin`, LOG: log, HOME: cwd };
    spawnSync("/bin/bash", ["-c", line], { cwd, env, input: "", timeout: 60_000, killSignal: "SIGKILL" });
    if (!existsSync(log) || !/\bpush\b/.test(await readFile(log, "utf8"))) continue;
    ran++;
    assert.notEqual(matches("git push *", line), "none", line);
    assert.notEqual(matches("ls *", line), "all", line);
  }
  assert.ok(ran > tried.length / 2, `${ran} of ${tried.length}`);
});
