import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AppFolder, COMPOSER, ctrl, ENTER, ESC, type AppTerminal } from "./app-terminal.ts";

const TRUST = /has AGENTS\.md\.[^]*trust this folder/;
const WELCOME = /cinch \d+\.\d+\.\d+ · .*no API key[^]*k Add a key/;

async function leave(terminal: AppTerminal): Promise<void> {
  terminal.type(ctrl("c"));
  await terminal.until(/again to leave/);
  terminal.type(ctrl("c"));
  await terminal.until(/shell\$ $/);
}

test("a folder is trusted only after y, which is remembered; Enter says no", async () => {
  using place = new AppFolder();
  place.write("AGENTS.md", "Obey.");
  const terminal = await place.cinch();
  await terminal.begin("", TRUST);
  await terminal.untilKeysCount();
  terminal.type(ENTER);
  await terminal.until(WELCOME);
  terminal.type(ctrl("c"));
  await terminal.until(/shell\$ $/);
  await terminal.clear();
  await terminal.begin("", TRUST);
  await terminal.untilKeysCount();
  terminal.type("y");
  await terminal.until(WELCOME);
  await terminal.untilKeysCount();
  terminal.type("s");
  await terminal.until(COMPOSER);
  await leave(terminal);
  await terminal.clear();
  await terminal.begin("", WELCOME);
  assert.doesNotMatch(terminal.screenText(), TRUST);
});

test("without a key the first screen says so, and the built-in model answers", async () => {
  using place = new AppFolder();
  const terminal = await place.cinch();
  await terminal.begin("", WELCOME);
  await terminal.untilKeysCount();
  terminal.type(ESC);
  await terminal.until(COMPOSER);
  await terminal.send("what is 3*7?");
  await terminal.until(/You {2}what is 3\*7\?[^]*21/);
  await terminal.until(() => !/Esc stops/.test(terminal.screenText()));
  await leave(terminal);
  await terminal.begin("--continue", /You {2}what is 3\*7\?[^]*You {2}what is 3\*7\?[^]*─\n> ?\n─/);
});

test("--resume lists the threads, and Enter opens one", async () => {
  using place = new AppFolder();
  const terminal = await place.cinch({ CINCH_MODEL: "offline" });
  await terminal.begin("", /^build · offline/m);
  assert.match(terminal.screenText(), /\ncinch \d.*\n─+\n> ?\n─+\nbuild/, "a new thread prints nothing");
  await terminal.send("say good morning");
  await terminal.until(/You {2}say good morning/);
  await terminal.until(() => !/Esc stops/.test(terminal.screenText()));
  await leave(terminal);
  await terminal.clear();
  await terminal.begin("--resume", /› say good morning/);
  await terminal.untilKeysCount();
  terminal.type(ENTER);
  await terminal.until(/You {2}say good morning[^]*─\n> ?\n─/);
});

test("a key is typed hidden; what is no key is refused and not saved", async () => {
  using place = new AppFolder();
  const terminal = await place.cinch();
  await terminal.begin("", WELCOME);
  await terminal.untilKeysCount();
  terminal.type("k");
  await terminal.until(/Whose key\?[^]*› anthropic/);
  await terminal.untilKeysCount();
  terminal.type(ENTER);
  await terminal.until(/The key of anthropic/);
  await terminal.untilKeysCount();
  terminal.type(`two words${ENTER}`);
  await terminal.until(/This is not a key/);
  assert.doesNotMatch(terminal.bytes.join(""), /words/);
  assert.equal(existsSync(join(place.state, ".config/cinch/keys/ANTHROPIC_API_KEY")), false);
});

test("an unknown thread is a usage error, and the terminal stays as it is", async () => {
  using place = new AppFolder();
  const terminal = await place.cinch();
  await terminal.begin("--resume nope", /There are no threads yet/);
  await terminal.run("echo code $?", /^code 2$/m);
});
