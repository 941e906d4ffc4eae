import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { eventsOf, inherited, Place, threadIn } from "./cli.ts";
import { holding, release } from "./held-sleep.ts";
import { MAIN } from "./programs.ts";

describe("cinch run", { concurrency: 4 }, () => {
  test("the answer goes to stdout, the rest to stderr, and the thread to .cinch", async () => {
    await using place = new Place();
    const { code, stdout, stderr } = await place.run(["run", "what is 3*7 and what is 2+2?"]);
    assert.deepEqual([code, stdout], [0, "I use calculate for that.\n3*7 = 21. 2+2 = 4.\n"]);
    assert.match(stderr, /^model: offline \(rule-based/);
    assert.match(stderr, /→ calculate \{"expression":"3\*7"\}/);
    assert.match(stderr, /← calculate: 21\n/);
    assert.match(stderr, /thread thread_\w+ · continue: cinch run --thread thread_\w+ "…"\n$/);
    assert.ok(existsSync(join(place.folder, ".cinch", "cinch.db")));
  });

  test("text is printed as it streams, not at the end", async () => {
    await using place = new Place();
    const held = holding({ ms: 7, nth: 20 });
    const running = place.start(["run", "tell me a story"], { env: { CINCH_OFFLINE_DELAY_MS: "7", ...held } });
    await running.prints(/Once there was/, "stdout");
    assert.ok(!running.stdout.includes("here I do not know"));
    release(running);
    const { code, stdout } = await running.finished;
    assert.equal(code, 0);
    assert.match(stdout, /^Once there was .* here I do not know\.\n$/);
  });

  test("--json prints every event as a line, with dense seqs across runs", async () => {
    await using place = new Place();
    const first = await place.run(["run", "--json", "count to 2"]);
    const second = await place.run(["run", "--json", "--continue", "what did I say first?"]);
    assert.deepEqual([first.code, second.code, first.stderr], [0, 0, ""]);
    const [events, more] = [eventsOf(first.stdout), eventsOf(second.stdout)];
    const durable = [...events, ...more].filter(({ v }) => v !== undefined);
    assert.deepEqual(
      durable.map(({ seq }) => seq),
      durable.map((_, at) => at + 1),
    );
    assert.deepEqual([events[0]?.type, durable.at(-1)?.type], ["thread_created", "agent_end"]);
    assert.equal(more.find(({ type }) => type === "resync")?.seq, events.at(-1)?.seq);
    const said = more.flatMap(({ type, delta }) => (type === "message_update" ? [delta] : []));
    assert.equal(said.join(""), 'First you said: "count to 2"');
  });

  test("--continue uses the newest thread, --thread a given one, and otherwise a new one is created", async () => {
    await using place = new Place();
    const first = await place.run(["run", "my name is Ada"]);
    const second = await place.run(["run", "what is my name?"]);
    assert.equal(second.stdout, "You have not told me your name.\n");
    const newest = await place.run(["run", "--continue", "what did I say first?"]);
    assert.equal(newest.stdout, 'First you said: "what is my name?"\n');
    const given = await place.run(["run", "--thread", threadIn(first), "what is my name?"]);
    assert.equal(given.stdout, "Your name is Ada.\n");
    const nothing = await place.run(["run", "--continue"]);
    assert.deepEqual([nothing.code, nothing.stdout], [0, ""]);
    assert.match(nothing.stderr, /nothing to continue/);
    const missing = await place.run(["run", "--thread", "thread_nowhere", "hello"]);
    assert.deepEqual([missing.code, missing.stdout], [2, ""]);
    assert.match(
      missing.stderr,
      /^cinch: There is no thread "thread_nowhere" in \.cinch\/cinch\.db\.\nThe newest are:\n/m,
    );
  });

  test("the prompt is read from stdin if it is omitted or a dash", async () => {
    await using place = new Place();
    const piped = await place.run(["run"], { input: "what is 2^10?\n" });
    assert.match(piped.stdout, /2\^10 = 1024\./);
    const dashed = await place.run(["run", "--continue", "-"], { input: "what did I say first?" });
    assert.equal(dashed.stdout, 'First you said: "what is 2^10?"\n');
    const empty = await place.run(["run"], { input: "\n" });
    assert.deepEqual([empty.code, empty.stderr.split("\n")[0]], [2, "cinch: The prompt from stdin is empty."]);
  });

  test("what a shell pipes in is added to the prompt, and a dash reads what a program gives", async () => {
    await using place = new Place();
    const said = (stdout: string) => eventsOf(stdout).find(({ type }) => type === "input_accepted")?.["content"];
    const command = `echo "a diff" | '${process.execPath}' '${MAIN}' run --json "review this"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", command], {
      cwd: place.folder,
      env: { ...inherited(), HOME: place.home },
    });
    assert.equal(said(stdout), "review this\n\na diff");
    const dashed = await place.run(["run", "--json", "review this", "-"], { input: "a diff\n" });
    assert.equal(said(dashed.stdout), "review this\n\na diff");
  });

  test("a command that can't be started says why, exits with 2 and writes nothing", async () => {
    await using place = new Place();
    const wrong: [string[], RegExp][] = [
      [["run", "--modle", "offline", "hi"], /There is no option "modle"\. Perhaps you meant: --model/],
      [["run", "--continue"], /no threads yet/],
      [["run", "--model", "anthropic/claude-sonnet-5", "hi"], /set ANTHROPIC_API_KEY.*--model offline/],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await place.run(args);
      assert.deepEqual([code, stdout], [2, ""], args.join(" "));
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /^\s+at /m);
    }
    assert.ok(!existsSync(join(place.folder, ".cinch")));
  });

  test("a file that is not a database is an error that says so", async () => {
    await using place = new Place();
    const { code, stderr } = await place.run(["run", "hi", "--db", process.execPath]);
    assert.equal(code, 1);
    assert.match(stderr, /^cinch: .*cannot be opened.*damaged or not a SQLite database/m);
  });

  test("a turn that needs too many steps exits with 4", async () => {
    await using place = new Place();
    const { code, stderr } = await place.run(["run", "count to 201"]);
    assert.equal(code, 4);
    assert.match(stderr, /limit of steps/);
  });

  test("--help prints the exit codes, and --version the version", async () => {
    await using place = new Place();
    const [help, version] = await Promise.all([place.run(["run", "--help"]), place.run(["--version"])]);
    const file = new URL("../package.json", import.meta.url);
    const packaged = JSON.parse(readFileSync(file, "utf8")) as { version: string };
    assert.deepEqual([help.code, version.code, version.stdout], [0, 0, `${packaged.version}\n`]);
    for (const code of [0, 1, 2, 3, 4, 130]) assert.match(help.stdout, new RegExp(`^  ${code} `, "m"));
  });

  test("no control sequence of the model or of a tool reaches the terminal, in either form of output", async () => {
    await using place = new Place();
    const evil = "say a\u001b[31mred\u001b[0m \u001b]0;title\u0007b\u009b2Jc\rd\u0008\u0000e";
    const { stdout } = await place.run(["run", evil.replace("\u0000", "")]);
    assert.equal(stdout, "ared bcde\n");
    const counted = await place.run(["run", 'count the words in "x\u001b[2Jy \u009b31mz"']);
    // oxlint-disable-next-line no-control-regex
    const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
    assert.doesNotMatch(counted.stdout + counted.stderr, control);
    const json = await place.run(["run", "--json", evil.replace("\u0000", "")]);
    assert.doesNotMatch(json.stdout, control);
    assert.match(JSON.stringify(eventsOf(json.stdout)), /\\u001b\[31m/);
  });

  test("an unknown CRASH_AT is refused, with the list of positions and events", async () => {
    await using place = new Place();
    const { code, stderr } = await place.run(["run", "hello"], { env: { CRASH_AT: "foo:bar" } });
    assert.equal(code, 1);
    assert.match(stderr, /CRASH_AT=foo:bar is not a crash point.*before, inside, after, emitted.*tool_end/s);
  });
});
