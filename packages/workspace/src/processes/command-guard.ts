import { spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";

/** In the environment of everything that a command starts: the marks of the commands that it runs in, the innermost last. */
export const MARK = "CINCH_COMMAND";

/** A mark is the number of the guard and the number of the command, with this many digits each. */
const DIGITS = 9;
const LOWEST = 10 ** (DIGITS - 1);
const HIGHEST = 10 ** DIGITS;

/**
 * Waits for the end of its standard input, which is the end of the harness, however it died. Then it ends all processes with a mark of
 * this guard: TERM, half a second, KILL. It looks at least three times, for processes that were just being started, and exits within two
 * seconds. Process groups are for systems without /proc. Finally it deletes the folders of the commands.
 */
const GUARD = `
trap '' HUP INT QUIT TERM
id=$1
shift
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
    /) set -- "$@" "$group" ;;
    .) exit ;;
  esac
done
marked() {
  grep -lsE "^Max file locks +$id[0-9]{${DIGITS}} |${MARK}=([0-9]+ )*$id[0-9]{${DIGITS}}" \\
    /proc/[0-9]*/limits /proc/[0-9]*/environ
}
end() {
  for one in $(marked); do
    one=\${one#/proc/}
    kill -s "$1" "\${one%/*}"
  done
  for one in $groups; do kill -s "$1" -- "-$one"; done
} 2>/dev/null
end TERM
for pause in 0.1 0.2 0.2; do
  [ -n "$(marked)$groups" ] || break
  sleep $pause
done
for look in 1 2 3 4 5 6; do
  end KILL
  [ $look -lt 3 ] || [ -n "$(marked)" ] || break
  sleep 0.1
done
rm -rf -- "$@"
`;

/**
 * Ties commands to the harness. Each gets a mark that everything it starts inherits, in whatever session, process group or parent. A guard
 * process ends everything with a mark when the harness has ended, even by `kill -9`.
 *
 * The mark is the limit on file locks. The kernel has ignored that limit since 2.4, it survives fork, exec, setsid and an emptied
 * environment, and a process can only lower it on purpose. The mark is in the environment, too: for the moment before the limit is set,
 * and for a harness inside a command, whose commands have limits of their own.
 */
export class CommandGuard {
  readonly #id = String(newId());
  readonly #groups = new Set<number>();
  readonly #folders = new Set<string>();
  #commands = 0;
  #process: ChildProcess | undefined;
  #closed = false;

  /** A mark for a new command, which is guarded from now on. */
  mark(): string {
    this.#start();
    this.#commands += 1;
    return this.#id + String(this.#commands).padStart(DIGITS, "0");
  }

  addGroup(group: number): void {
    this.#groups.add(group);
    this.#send(`+ ${group}\n`);
  }

  removeGroup(group: number): void {
    this.#groups.delete(group);
    this.#send(`- ${group}\n`);
  }

  /** A folder that is deleted after the end of the harness. */
  addFolder(folder: string): void {
    this.#folders.add(folder);
    this.#send(`/ ${folder}\n`);
  }

  /** Ends the guard process. No command may run any more. */
  close(): void {
    this.#closed = true;
    this.#send(".\n");
    this.#process?.stdin?.end();
  }

  #send(line: string): void {
    if (this.#process?.stdin?.writable) this.#process.stdin.write(line);
  }

  #start(): void {
    if (this.#process || this.#closed) return;
    const guard = spawn("/bin/sh", ["-c", GUARD, "cinch-guard", this.#id], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
      // In its own session: signals of the terminal must not reach it.
      detached: true,
    });
    const onLost = () => {
      if (this.#process !== guard) return;
      this.#process = undefined;
      // It was killed while commands run.
      if (this.#groups.size > 0) this.#start();
    };
    guard.on("exit", onLost);
    guard.on("error", onLost);
    guard.stdin.on("error", () => {});
    // The guard must not keep the harness alive.
    guard.unref();
    (guard.stdin as unknown as { unref(): void }).unref();
    this.#process = guard;
    for (const group of this.#groups) this.#send(`+ ${group}\n`);
    for (const folder of this.#folders) this.#send(`/ ${folder}\n`);
  }
}

/** A process can only lower its limit: inside a command of another harness, the number must be smaller. */
function newId(): number {
  const most = ownLimit();
  return most > LOWEST + 1 ? randomInt(LOWEST, Math.min(most, HIGHEST)) : randomInt(LOWEST, HIGHEST);
}

function ownLimit(): number {
  try {
    const hard = /^Max file locks +\S+ +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return hard === undefined ? HIGHEST : Number(BigInt(hard) / BigInt(HIGHEST));
  } catch {
    return HIGHEST;
  }
}
