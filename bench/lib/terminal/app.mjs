/**
 * The process that `terminal.mjs` measures: the terminal app as `cinch` opens it, on the real harness, store and workspace; only the model
 * is scripted. Every message is answered with at least CHARACTERS of Markdown and code, 200 deltas a second. What was measured since the
 * last answer began is written to RESULTS, as one line of JSON: how long each key took, and each CPU time for which a key would have waited.
 *
 * `app.mjs fill MESSAGES` fills the newest thread instead, without a terminal.
 */
import { appendFileSync } from "node:fs";
import { argv, env, stdin, stdout } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@cinch/core";
import { finish, say, scriptedBy } from "@cinch/testkit";
import { runInTerminal } from "../../../apps/cli/src/app/run-in-terminal.ts";
import { appCommands } from "../../../apps/cli/src/app/commands/index.ts";
import { openProject } from "../../../apps/cli/src/setup/open-project.ts";
import { userFolders } from "../../../apps/cli/src/setup/user-folders.ts";
import { featuresOf } from "../../../apps/cli/src/terminal/features.ts";
import { ttyInput, TtyOutput } from "../../../apps/cli/src/terminal/tty.ts";
import { answer } from "./answer.mjs";
import { DELTA_CHARS, DELTAS_A_SECOND } from "./stream.mjs";

const results = { keys: [], blocks: [] };
const [command, count] = argv.slice(2);
const place = { folder: process.cwd(), env, flags: {}, trusted: true };
if (command === "fill") await fill(Number(count));
else await run();

async function fill(messages) {
  const { markdown } = answer(400, { prefix: "old" });
  let answers = 0;
  const project = await openProject({
    ...place,
    model: modelOf(() => say(`${markdown}Answer ${++answers}.`, { size: 100 })),
  });
  const session = await project.harness.createSession();
  await session.createThread();
  for (let at = 1; at <= messages / 2; at++) await session.sendMessage({ content: `Question ${at} of a long thread.` });
  await project.close();
}

async function run() {
  const project = await openProject({ ...place, model: modelOf(() => stream) });
  const output = new TtyOutput(stdout, { onError: () => process.exit(1) });
  process.exitCode = await runInTerminal({
    project,
    thread: { kind: "newest" },
    commands: appCommands,
    terminal: { input: timed(ttyInput(stdin)), output },
    features: featuresOf(env),
    clock: systemClock,
    env,
    stateFolder: userFolders(env).state,
  });
}

/** Under the name of the built-in model, so that no observer is asked. */
function modelOf(choose) {
  const model = scriptedBy(choose);
  return { id: "offline", fallback: false, load: async () => model };
}

/** Some deltas arrive together, as from a network. */
async function* stream() {
  const { markdown } = answer(Number(env.CHARACTERS));
  const deltas = Math.ceil(markdown.length / DELTA_CHARS);
  const from = performance.now();
  Object.assign(results, { keys: [], blocks: [] });
  let used = threadCpuMs();
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "t" };
  for (let sent = 0; sent < deltas; await sleep(5)) {
    const now = threadCpuMs();
    results.blocks.push(now - used);
    used = now;
    const due = ((performance.now() - from) / 1_000) * DELTAS_A_SECOND;
    for (; sent < Math.min(due, deltas); sent++) {
      yield { type: "text-delta", id: "t", delta: markdown.slice(sent * DELTA_CHARS, (sent + 1) * DELTA_CHARS) };
    }
  }
  yield { type: "text-end", id: "t" };
  yield finish("stop");
}

function threadCpuMs() {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** From the bytes of a key to the end of the write of its frame: no other process delays that, except by the cores. */
function timed(input) {
  if (env.RESULTS) process.on("exit", () => appendFileSync(env.RESULTS, `${JSON.stringify(results)}\n`));
  return {
    setRaw: (raw) => input.setRaw(raw),
    onBytes: (listener) =>
      input.onBytes((bytes) => {
        const from = performance.now();
        listener(bytes);
        results.keys.push(performance.now() - from);
      }),
  };
}
