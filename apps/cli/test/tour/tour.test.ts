import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { TOUR_REQUEST } from "@cinch/web";
import type { ToolOutcome } from "../../src/offline/conversation.ts";
import { nextOfTour } from "../../src/tour/tour-model.ts";
import { AppFolder, ENTER, ESC } from "../app/app-terminal.ts";
import { Place } from "../cli.ts";

const tourFolders = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("cinch-tour-"));

test("without a terminal the tour answers its own questions, prints what happens, and exits with 0", async () => {
  await using place = new Place();
  const { code, stdout, stderr } = await place.run([], { env: { TMPDIR: place.folder } });
  assert.deepEqual([code, stderr], [0, ""]);
  const story = [
    /You: The total of the cart is wrong/,
    /\? The plan:\n +1\. Start the loop/,
    /mode plan → build/,
    /\? edit_file asks: src\/cart\.js\n +→ approved/,
    /- +for \(let i = 1;.*\n +\+ +for \(let i = 0;/,
    /execute .*Exit code 1[^]*✔ the total has every item.*\n +✖ the total is exact to the cent/,
    /\+ +return Math\.round\(sum \* 100\) \/ 100;/,
    /execute .*Exit code 0[^]*✔ the total is exact to the cent/,
    /subagent general-purpose reports:\n +src\/cart\.js: .*No findings/,
    /restored \/src\/cart\.js\n +\d+ messages reverted[^]*every file is as it was before/,
  ];
  let from = 0;
  for (const part of story) {
    const at = stdout.slice(from).search(part);
    assert.notEqual(at, -1, `${String(part)} does not follow in:\n${stdout}`);
    from += at;
  }
  assert.deepEqual(tourFolders(place.folder), []);
});

for (const [signal, ending] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  test(`a tour that ${signal} ends leaves no folder behind`, async () => {
    await using place = new Place();
    const running = place.start([], { env: { TMPDIR: place.folder } });
    await running.prints(/Cinch: I look at the code/, "stdout");
    running.child.kill(signal);
    assert.equal((await running.finished).code, ending);
    assert.deepEqual(tourFolders(place.folder), []);
  });

test("the commands in the last line of the tour work when they are typed", async () => {
  await using place = new Place();
  const { stdout } = await place.run([], { env: { TMPDIR: place.folder } });
  const lastLine = stdout.trimEnd().split("\n").at(-1)!;
  const printed = Array.from(lastLine.matchAll(/\bcinch(?: [a-z]+ "…"| --[a-z]+)?/g), ([command]) => command);
  const [inTerminal, ...others] = printed;
  assert.equal(inTerminal, "cinch");
  assert.equal(others.length, 2, lastLine);
  const said = new Map<string, string>();
  for (const command of others) {
    const [, ...args] = command.replace("…", "what is 3*7?").match(/(?<=")[^"]+(?=")|[^\s"]+/g)!;
    const typed = await place.run(args);
    assert.equal(typed.code, 0, `${command}: ${typed.stderr}`);
    said.set(command, typed.stdout);
  }
  assert.match(said.get('cinch run "…"')!, /3\*7 = 21/);
  for (const name of ["run", "threads", "serve", "doctor"])
    assert.match(said.get("cinch --help")!, new RegExp(`^ +(cinch )?${name}\\b`, "m"));
  using app = new AppFolder();
  const terminal = await app.cinch({ TMPDIR: app.state });
  await terminal.begin("", /› t Take the two-minute tour/);
});

test("in a terminal the user approves the plan, the edits and a command, and undoes all of it", async () => {
  using place = new AppFolder();
  const terminal = await place.cinch({ TMPDIR: place.state });
  await terminal.begin("", /› t Take the two-minute tour/);
  await terminal.untilKeysCount();
  terminal.type(ENTER);
  await terminal.until(() => terminal.composer() === TOUR_REQUEST);
  terminal.type(ENTER);
  await terminal.untilMarked("y approve, go to build");
  await terminal.untilKeysCount();
  terminal.type("y");
  await terminal.until(/Make this change\?[^]*\n› y approve/);
  await terminal.untilKeysCount();
  terminal.type("y");
  await terminal.until(/Run this command\?\n│ npm test\n› y approve/);
  await terminal.untilKeysCount();
  terminal.type("p");
  await terminal.until(/One test still fails[^]*Make this change\?[^]*\+ {3}return Math\.round[^]*\n› y approve/);
  await terminal.untilKeysCount();
  terminal.type("y");
  await terminal.until(
    /✓ task general-purpose[^]*No findings[^]*3 of 3 done[^]*The total is right now[^]*Tour: now undo all of it/,
  );
  terminal.type(ESC);
  await terminal.until(/Esc again/);
  terminal.type(ESC);
  await terminal.until(/Rewind to before[^]*src\/cart\.js −2 \+2/);
  await terminal.untilKeysCount();
  terminal.type(ENTER);
  await terminal.until(/Tour: the files are as they were/);
  terminal.type(ESC);
  await terminal.until(() => tourFolders(place.state).length === 0);
});

test("Esc leaves the tour at its beginning", async () => {
  using place = new AppFolder();
  const terminal = await place.cinch({ TMPDIR: place.state });
  await terminal.begin("", /› t Take the two-minute tour/);
  await terminal.untilKeysCount();
  terminal.type("t");
  await terminal.until(() => terminal.composer() === TOUR_REQUEST);
  terminal.type(ESC);
  await terminal.until(
    () => terminal.screenText().split("k Add a key").length === 2 && tourFolders(place.state).length === 0,
  );
});

test("the model of the tour revises a plan by the user's remark, and stops where a call is declined", () => {
  const read: ToolOutcome = { toolName: "read_file", text: "…", isError: false };
  const rejected: ToolOutcome = {
    toolName: "submit_plan",
    text: "The plan was rejected. The user says: keep it short",
    isError: false,
  };
  const after = (...outcomes: ToolOutcome[]) =>
    nextOfTour({
      said: [TOUR_REQUEST],
      ask: TOUR_REQUEST,
      steps: outcomes.map((one) => [one]),
      calls: outcomes.length,
    });
  const revised = after(read, rejected);
  assert.match(JSON.stringify(revised), /I have changed the plan.*As you said: keep it short/);
  const declined = after(read, { toolName: "edit_file", text: "The user declined this call: no", isError: true });
  assert.equal(declined.kind, "say");
  assert.match(declined.text, /edit_file was not done: The user declined this call: no/);
});
