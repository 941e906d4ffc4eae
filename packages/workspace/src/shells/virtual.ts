import { posix } from "node:path";
import { Worker } from "node:worker_threads";
import { CinchError } from "@cinch/core";
import { checkConfig } from "../config.ts";
import type { Backend, Reach } from "../backend.ts";
import { withPolicy } from "../backends/policy.ts";
import { ruleHooks, withFrozen } from "../path-rules/rule-hooks.ts";
import { hiddenRules } from "../private-files.ts";
import { pathRules, type PathRule } from "../path-rules/path-rules.ts";
import type { Command, Running, Shell } from "../shell.ts";
import { type Additions, withAdditions } from "./environment.ts";
import { aborted, type Ended, type Life, running } from "./running.ts";
import { Errno, Pretences, VirtualFiles } from "./virtual-files.ts";
import type { FromWorker, ToWorker } from "./virtual-worker.ts";

export interface VirtualShellOptions {
  backend: Backend;
  env?: Additions;
}

const PACKAGE = "just-bash";
const WORKER = new URL(
  import.meta.url.endsWith(".ts") ? "./virtual-worker.ts" : "./virtual-worker.js",
  import.meta.url,
);
const MEMORY_MB = 512;
const NOBODY = { threadId: "", resourceId: "" };

/**
 * A shell without a machine: an interpreter with commands of its own, such as ls, grep, sed, awk, jq, over any backend. There are no
 * programs, no processes, no network, and no standard input; what a command prints comes when it is over. A folder that is made is
 * there for others only when there is a file in it, and the modes of files are forgotten when the shell is closed.
 */
export function virtualShell(options: VirtualShellOptions): Shell {
  checkConfig("virtualShell", options);
  const { backend, env } = options;
  try {
    import.meta.resolve(PACKAGE);
  } catch (cause) {
    throw new CinchError("INVALID_CONFIG", `virtualShell needs the package ${PACKAGE}: npm install ${PACKAGE}`, cause);
  }
  const pretences = new Map<string, Pretences>();
  const alive = new Set<Running>();
  const idle: Worker[] = [];
  let bound = backend;
  let closed = false;

  const pretencesFor = ({ threadId, resourceId }: Reach): Pretences => {
    const key = JSON.stringify([threadId, resourceId]);
    if (!pretences.has(key)) pretences.set(key, new Pretences());
    return pretences.get(key)!;
  };

  const live = async (command: Command, { outlet, stop, connect }: Life): Promise<Ended> => {
    if (closed) throw new Error("This shell is closed.");
    connect(undefined);
    const reach = { ...(command.reach ?? NOBODY), signal: stop };
    const files = new VirtualFiles(bound, reach, pretencesFor(reach));
    const cwd = posix.resolve("/", command.cwd);
    if (!(await files.stat(cwd))?.directory) throw new Error(`There is no folder ${command.cwd} to run it in.`);

    const worker = idle.pop() ?? newWorker();
    const variables = withAdditions({ HOME: "/", USER: "agent", LANG: "C.UTF-8", TERM: "dumb" }, env);
    const task = { command: command.command, cwd, env: variables };
    const result = await Promise.race([interpret(worker, task, files), aborted(stop)]);
    if (!result) {
      await worker.terminate();
      return { code: null, signal: "SIGKILL" };
    }
    if (closed || result.broken) await worker.terminate();
    else idle.push(worker);
    const printed = Promise.all([outlet.print(result.stdout, "stdout"), outlet.print(result.stderr, "stderr")]);
    await outlet.finish(printed, stop);
    return { code: result.code, signal: null };
  };

  return {
    name: "virtual",
    async open({ rules, hidden, frozen }) {
      const kept = await hiddenRules(backend, hidden);
      const hooks = ruleHooks(pathRules([...kept, ...rules.map(withoutAsking)]));
      bound = withPolicy(backend, withFrozen(hooks, frozen));
    },
    protection: async () => ({
      kind: "virtual",
      description: "Commands are interpreted: they see the files of the workspace, and nothing of this machine.",
    }),
    start(command, sink) {
      const onEnd = () => alive.delete(one);
      const one: Running = running({ command, sink, live: (life) => live(command, life), onEnd });
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

/** It knows nothing of the harness's environment, and imports nothing that depends on how this process was started. */
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

/** In the middle of a command nobody can be asked. */
const withoutAsking = (rule: PathRule): PathRule => (rule.mode === "ask" ? { ...rule, mode: "deny" } : rule);

interface Interpreted extends NonNullable<FromWorker["result"]> {
  /** The thread is of no use any more. */
  broken?: boolean;
}

/** Has it run in the thread, and answers what it asks of the files meanwhile. */
function interpret(worker: Worker, run: NonNullable<ToWorker["run"]>, files: VirtualFiles): Promise<Interpreted> {
  const tell = (message: ToWorker) => worker.postMessage(message, []);
  const answer = async ({ id, name, values }: NonNullable<FromWorker["call"]>): Promise<void> => {
    try {
      const method = files[name] as (...parameters: unknown[]) => Promise<unknown>;
      tell({ answer: { id, value: await method.apply(files, values) } });
    } catch (error) {
      const { code, message } = error instanceof Errno ? error : { code: "EIO", message: String(error) };
      tell({ answer: { id, error: { code, message } } });
    }
  };
  return new Promise((resolve) => {
    const onMessage = ({ call, result }: FromWorker) => {
      // It never rejects.
      if (call) answer(call);
      if (result) finish(result);
    };
    const onError = (error: Error) => {
      const stderr = Buffer.from(`The interpreter broke down: ${error.message}\n`);
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
    tell({ run });
  });
}
