import { spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";

/** In the environment of everything that a command starts: the marks of the commands that it runs in, the innermost last. */
export const MARK = "CINCH_COMMAND";

/** A mark is the leash's number and the command's, of as many digits each. */
const DIGITS = 9;
const LOWEST = 10 ** (DIGITS - 1);
const HIGHEST = 10 ** DIGITS;

/**
 * Waits for the end of the harness, which is the end of its standard input however the harness died, then ends what carries a mark of
 * this leash: TERM, half a second, KILL. It looks at least three times, for what was just being started, and is gone within two seconds.
 * Process groups are for systems that have no /proc. Then the folders go that were only for commands.
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
 * What ties commands to the harness. Each gets a mark that everything it starts inherits, whatever session, group or parent that moves
 * to, and a guard process ends whatever carries one when the harness is no more, even by `kill -9`.
 *
 * The mark is the limit on file locks, which the kernel has not looked at since 2.4 and which survives fork, exec, setsid and an emptied
 * environment; only on purpose can a process lower its own. It is in the environment too: for the moment before the limit is set, and
 * for a harness that runs inside of a command, whose commands have limits of their own.
 */
export class Leash {
  readonly #id = String(newId());
  readonly #groups = new Set<number>();
  readonly #folders = new Set<string>();
  #commands = 0;
  #guard: ChildProcess | undefined;
  #closed = false;

  /** A mark that no other command has, guarded from now on. */
  mark(): string {
    this.#watch();
    this.#commands += 1;
    return this.#id + String(this.#commands).padStart(DIGITS, "0");
  }

  hold(group: number): void {
    this.#groups.add(group);
    this.#tell(`+ ${group}\n`);
  }

  release(group: number): void {
    this.#groups.delete(group);
    this.#tell(`- ${group}\n`);
  }

  /** A folder that nobody needs when the harness is no more. */
  keep(folder: string): void {
    this.#folders.add(folder);
    this.#tell(`/ ${folder}\n`);
  }

  /** Nothing is on the leash any more: the guard goes, too. */
  close(): void {
    this.#closed = true;
    this.#tell(".\n");
    this.#guard?.stdin?.end();
  }

  #tell(line: string): void {
    if (this.#guard?.stdin?.writable) this.#guard.stdin.write(line);
  }

  #watch(): void {
    if (this.#guard || this.#closed) return;
    const guard = spawn("/bin/sh", ["-c", GUARD, "cinch-guard", this.#id], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
      // In a session of its own: what the terminal sends to the harness must not reach it.
      detached: true,
    });
    const lost = () => {
      if (this.#guard !== guard) return;
      this.#guard = undefined;
      // Somebody killed it while commands run.
      if (this.#groups.size > 0) this.#watch();
    };
    guard.on("exit", lost);
    guard.on("error", lost);
    guard.stdin.on("error", () => {});
    // The harness may end although it is still there; that is what it waits for.
    guard.unref();
    (guard.stdin as unknown as { unref(): void }).unref();
    this.#guard = guard;
    for (const group of this.#groups) this.#tell(`+ ${group}\n`);
    for (const folder of this.#folders) this.#tell(`/ ${folder}\n`);
  }
}

/** A process may only lower its limit: inside a command of another harness, the number must be a smaller one. */
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
