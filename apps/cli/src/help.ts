import { ExitCode } from "./exit.ts";
import { providers } from "./models/providers.ts";
import { cinch } from "./invocation.ts";

const listed = providers.map(({ name, about }) => `  ${`${name}/<id>`.padEnd(24)}${about}`).join("\n");

export const help = `cinch: conversations that survive anything

Usage
${usage('run "prompt" [options]', "talk to a model; the answer goes to stdout, everything else to stderr")}
${usage("run --continue [options]", "continue an interrupted turn, or answer queued messages")}
${usage("", "a demonstration (needs no key and no network)")}
${usage("torture", "kill a process at every event that reaches the disk, and check what is left (a minute or two)")}

Options of run
  --thread ID          continue this thread
  --continue           continue the newest thread (default: a new one)
  --model NAME         provider/id, or offline (default: $CINCH_MODEL, else the first provider that has a key, else offline)
  --db PATH            the file of the threads (default: .cinch/cinch.db)
  --json               print every event as one line of JSON, and nothing else, to stdout
  -h, --help           this text
  -v, --version        the version

  The prompt is read from stdin if it is "-", or if it is omitted and stdin is a pipe or a file.
  Ctrl-C aborts the turn; a second Ctrl-C exits at once. Either way the next prompt can continue the thread.

Models
  offline                 built in, rule-based, no network
${listed}

Environment
  CINCH_MODEL             the model, if --model is not given
  CINCH_BASE_URL          the server of openai-compatible/…, vllm/… and llamacpp/…
  CINCH_API_KEY           its key, if it needs one
  CINCH_LEDGER            a file to which each tool appends a line when it begins and when it ends
  CRASH_AT                EVENT:before|inside|after|emitted[:N], kill this process when its Nth such event reaches that point
  CINCH_OFFLINE_DELAY_MS  how long the offline model takes per word (default 15)

Exit codes
  ${pad(ExitCode.complete)} the turn is complete, or there was nothing to do
  ${pad(ExitCode.error)} the turn failed, or the store did
  ${pad(ExitCode.usage)} it can't be started: a wrong flag, model or thread, a missing key; nothing was written
  ${pad(ExitCode.waiting)} it waits for a person: an unanswered question, or a parked thread
  ${pad(ExitCode.limit)} it stopped at a limit: steps or budget
  ${pad(ExitCode.aborted)} it was aborted (Ctrl-C)
  ${pad(ExitCode.hangup)} the terminal went away; ${ExitCode.pipeClosed} the reader of stdout did; ${ExitCode.terminated} SIGTERM. The turn is kept and can be continued
`;

function usage(words: string, about: string): string {
  return `  ${`${cinch} ${words}`.padEnd(cinch.length + 26)} ${about}`;
}

function pad(code: number): string {
  return String(code).padEnd(4);
}
