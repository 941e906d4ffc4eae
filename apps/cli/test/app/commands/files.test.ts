import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { textOf } from "@cinch/core";
import { call, hang, say } from "@cinch/testkit";
import { appCommands } from "../../../src/app/commands/index.ts";
import { commandStage } from "./command-stage.ts";

test("/copy copies the last answer, a code block and the last command as they were written", async () => {
  const answer = "Two files:\n\n```make\nall:\n\tcc x.c\n```\n\n```sh\nmake  all\n```\n";
  const command = "printf '%s\\n' \"a  b\"\u202e";
  await using stage = await commandStage([call("execute", { command }), say(answer)], { flags: { yolo: true } });
  assert.deepEqual(await stage.run("/copy"), ["There is no answer to copy yet."]);
  assert.deepEqual(await stage.run("/copy code"), ["No answer has a code block yet. /copy copies the last answer."]);
  assert.deepEqual(await stage.run("/copy command"), ["The agent has run no command yet."]);
  await stage.session.sendMessage({ content: "make it" });
  assert.deepEqual(await stage.run("/copy"), ["The last answer is in the clipboard: 11 lines."]);
  assert.equal(stage.copied, answer);
  assert.deepEqual(await stage.run("/copy code"), ["Code block 2 of 2 is in the clipboard: 1 line."]);
  assert.equal(stage.copied, "make  all");
  assert.deepEqual(await stage.run("/copy 1"), ["Code block 1 of 2 is in the clipboard: 2 lines."]);
  assert.equal(stage.copied, "all:\n\tcc x.c");
  assert.deepEqual(await stage.run("/copy 3"), ["The last answer with code has 2 code blocks: /copy 1"]);
  await stage.run("/copy command");
  assert.equal(stage.copied, command);
  assert.match((await stage.run("/copy that"))[0]!, /^"that" can't be copied: /);
});

test("/export writes the thread to a file that only its owner reads, and replaces none", async () => {
  await using stage = await commandStage([say("Hello **you**.")]);
  await stage.session.sendMessage({ content: "Fix: the/sum!" });
  assert.deepEqual(await stage.run("/export"), [
    "The thread is in thread-fix-the-sum.md, as markdown. Only you can read the file.",
  ]);
  const file = join(stage.folder, "thread-fix-the-sum.md");
  assert.match(readFileSync(file, "utf8"), /Hello \*\*you\*\*\./);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const format of ["markdown", "json", "html"]) {
    await stage.run(`/export ${format}`);
    const [refusal] = await stage.run(`/export ${format}`);
    assert.match(refusal!, new RegExp(`exists already\\. Give another name: /export ${format} FILE$`));
  }
  await stage.run("/export html my page.html");
  assert.match(readFileSync(join(stage.folder, "my page.html"), "utf8"), /<strong>you<\/strong>/);
  await stage.run("/export ~/all.json");
  assert.equal(JSON.parse(readFileSync(join(stage.home, "all.json"), "utf8")).title, "Fix: the/sum!");
  assert.match((await stage.run("/export json no/such/folder.json"))[0]!, /^The thread was not exported: /);
});

test("/export does not take an unknown format for the name of a file", async () => {
  await using stage = await commandStage([say("Hello.")]);
  await stage.session.sendMessage({ content: "Hello" });
  assert.deepEqual(await stage.run("/export pdf"), [
    'There is no format "pdf", only markdown, json, html. For a file of this name: /export markdown pdf',
  ]);
  assert.equal(existsSync(join(stage.folder, "pdf")), false);
  await stage.run("/export markdown pdf");
  assert.match(readFileSync(join(stage.folder, "pdf"), "utf8"), /Hello\./);
});

test("/init asks the agent for AGENTS.md, unless a turn runs or nothing can be written", async () => {
  await using stage = await commandStage([
    call("write_file", { file_path: "/AGENTS.md", content: "# Shop" }),
    say("Written."),
    hang("Hm"),
  ]);
  await stage.run("/mode plan");
  assert.deepEqual(await stage.run("/init"), [
    "In the mode plan, the agent writes no files. Change it first: /mode build",
  ]);
  await stage.run("/mode build");
  await stage.run("/permissions allow write_file");
  assert.deepEqual(await stage.run("/init"), []);
  await stage.session.settled();
  assert.ok(existsSync(join(stage.folder, "AGENTS.md")));
  assert.match(textOf(stage.context.display().messages[0]!.content), /^Write AGENTS\.md in the root of this project/);
  const turn = stage.session.sendMessage({ content: "go on" });
  await stage.until(({ currentMessage }) => currentMessage !== null);
  assert.match((await stage.run("/init"))[0]!, /^A turn is not finished yet\./);
  await stage.session.abort();
  await turn;
});

test("/help has every command and every key, and /quit leaves", async () => {
  await using stage = await commandStage([], { rows: 100 });
  const printed = await stage.run("/help");
  const [commands, keys] = [printed.indexOf("Commands"), printed.indexOf("Keys")];
  const names = printed.slice(commands + 1, keys).map((row) => /^ {2}\/(\S+)/.exec(row)?.[1]);
  assert.deepEqual(
    names.filter((name) => name !== undefined),
    appCommands.map(({ name }) => name),
  );
  assert.equal(printed[keys + 1], "  Ctrl-T  whole thread");
  await stage.run("/quit");
  assert.ok(stage.hasQuit);
});

test("the commands are those of the design", () => {
  const design =
    "new threads resume rename clone rewind diff later mode model permissions yolo tasks agents background skills memory context cost budget compact copy init export help quit";
  assert.deepEqual(
    appCommands.map(({ name }) => name),
    design.split(" "),
  );
});
