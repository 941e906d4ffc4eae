import { posix } from "node:path";
import { Worker } from "node:worker_threads";
import { CinchError } from "@cinch/core";
import type { PathRule, PathRuleLists } from "@cinch/core/workspace";
import { checkConfig } from "../config.ts";
import type { Backend, Reach } from "../backend.ts";
import { withPolicy, type PolicyHooks } from "../backends/policy.ts";
import { ruleHooks, withFrozen } from "../path-rules/rule-hooks.ts";
import { hiddenRules } from "../path-rules/hidden-rules.ts";
import { narrower, pathRules, type PathRules } from "../path-rules/path-rules.ts";
import type { ShellCommand, Running, Shell } from "../shells/shell.ts";
import { type Additions, withAdditions } from "../shells/environment.ts";
import { type CommandRun, type ExitStatus, running, whenAborted } from "../shells/running.ts";
import { BackendFiles, Errno, UnstoredState } from "./backend-files.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

export interface VirtualShellOptions {
  backend: Backend;
  env?: Additions;
}

const PACKAGE = "just-bash";
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);
const MEMORY_MB = 512;
const NO_THREAD = { threadId: "", resourceId: "" };

/**
 * Interprets commands over any backend, with built-in commands such as ls, grep, sed, awk and jq. There are no programs, no processes, no
 * network and no standard input, and output comes at the end of a command. Empty folders and the modes of files are visible only to the
 * same thread, until the shell is closed.
 */
export function virtualShell(options: VirtualShellOptions): Shell {
  checkConfig("virtualShell", options);
  const { backend, env } = options;
  try {
    import.meta.resolve(PACKAGE);
  } catch (cause) {
    throw new CinchError("INVALID_CONFIG", `virtualShell needs the package ${PACKAGE}: npm install ${PACKAGE}`, cause);
  }
  const unstored = new Map<string, UnstoredState>();
  const alive = new Set<Running>();
  const idle: Worker[] = [];
  let bounds: { rules: PathRules; frozen?: PolicyHooks["before"] } = { rules: pathRules([]) };
  let closed = false;

  const boundTo = (lists: PathRuleLists): Backend => {
    const rules = lists.map((list) => pathRules(list.map(withoutAsking))).reduce(narrower, bounds.rules);
    return withPolicy(backend, withFrozen(ruleHooks(rules), bounds.frozen));
  };

  const unstoredFor = ({ threadId, resourceId }: Reach): UnstoredState => {
    const key = JSON.stringify([threadId, resourceId]);
    if (!unstored.has(key)) unstored.set(key, new UnstoredState());
    return unstored.get(key)!;
  };

  const run = async (command: ShellCommand, { output, stop, connect }: CommandRun): Promise<ExitStatus> => {
    if (closed) throw new Error("This shell is closed.");
    connect(undefined);
    const reach = { ...(command.reach ?? NO_THREAD), signal: stop };
    const files = new BackendFiles(boundTo(command.rules ?? []), reach, unstoredFor(reach));
    const cwd = posix.resolve("/", command.cwd);
    if (!(await files.stat(cwd))?.directory) throw new Error(`There is no folder ${command.cwd} to run it in.`);

    const worker = idle.pop() ?? newWorker();
    const variables = withAdditions({ HOME: "/", USER: "agent", LANG: "C.UTF-8", TERM: "dumb" }, env);
    const task = { command: command.command, cwd, env: variables };
    const result = await Promise.race([interpret(worker, task, files), whenAborted(stop)]);
    if (!result) {
      await worker.terminate();
      return { code: null, signal: "SIGKILL" };
    }
    if (closed || result.broken) await worker.terminate();
    else idle.push(worker);
    const printed = Promise.all([output.print(result.stdout, "stdout"), output.print(result.stderr, "stderr")]);
    await output.finish(printed, stop);
    return { code: result.code, signal: null };
  };

  return {
    name: "virtual",
    async open({ rules, hidden, frozen }) {
      const kept = await hiddenRules(backend, hidden);
      bounds = { rules: pathRules([...kept, ...rules.map(withoutAsking)]), frozen };
    },
    protection: async () => ({
      kind: "virtual",
      description: "Commands are interpreted: they see the files of the workspace, and nothing of this machine.",
      rulesPerCommand: true,
    }),
    start(command, sink) {
      const onEnd = () => alive.delete(one);
      const one: Running = running({ command, sink, run: (state) => run(command, state), onEnd });
      alive.add(one);
      return one;
    },
    async close() {
      closed = true;
      await Promise.all([...alive].map((one) => one.stop()));
      await Promise.all(idle.splice(0).map((worker) => worker.terminate()));
    },
  };
}

/** It gets neither the environment nor the options of this process. */
function newWorker(): Worker {
  const worker = new Worker(WORKER, {
    name: "cinch-virtual-shell",
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  worker.unref();
  return worker;
}

/** A running command can't wait for an answer. */
const withoutAsking = (rule: PathRule): PathRule => (rule.mode === "ask" ? { ...rule, mode: "deny" } : rule);

interface Interpreted extends NonNullable<FromWorker["result"]> {
  /** The thread can't be used again. */
  broken?: boolean;
}

/** Runs a command in the thread, and answers its calls of the backend. */
function interpret(worker: Worker, run: NonNullable<ToWorker["run"]>, files: BackendFiles): Promise<Interpreted> {
  const send = (message: ToWorker) => worker.postMessage(message, []);
  const answer = async ({ id, name, values }: NonNullable<FromWorker["call"]>): Promise<void> => {
    try {
      const method = files[name] as (...parameters: unknown[]) => Promise<unknown>;
      send({ answer: { id, value: await method.apply(files, values) } });
    } catch (error) {
      const { code, message } = error instanceof Errno ? error : { code: "EIO", message: String(error) };
      send({ answer: { id, error: { code, message } } });
    }
  };
  return new Promise((resolve) => {
    const onMessage = ({ call, result }: FromWorker) => {
      // `answer` never rejects.
      if (call) answer(call);
      if (result) finish(result);
    };
    const onError = (error: Error) => {
      const stderr = Buffer.from(`The interpreter failed: ${error.message}\n`);
      finish({ stdout: Buffer.alloc(0), stderr, code: 137, broken: true });
    };
    const finish = (result: Interpreted) => {
      worker.off("message", onMessage);
      worker.off("error", onError);
      worker.unref();
      resolve(result);
    };
    worker.on("message", onMessage);
    worker.on("error", onError);
    worker.ref();
    send({ run });
  });
}
