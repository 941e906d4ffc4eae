import { asCode, named, type Look, type Looker } from "./look.ts";
import { starts, type Options } from "./options.ts";
import { ANYTHING, literal, mayBeOption, type Word } from "./word.ts";

/** Programs that run another one, which their arguments name. */

/**
 * These say only when or how fast something runs: they write nothing, change no variable and end with what they run. So `timeout 60
 * npm test` is covered by `npm test *`. `nohup` and `setsid` are not here, because what they start outlives its turn, nor `env`, `sudo`
 * and the like, because the same words do something else under them.
 */
const HARMLESS = new Map<string, RegExp>([
  ["time", /^-p$/],
  ["nice", /^(?:-n|-?\d+|-n-?\d+|--adjustment=-?\d+)$/],
  [
    "timeout",
    /^(?:-[skvfp]|--(?:foreground|preserve-status|verbose|signal=\w+|kill-after=[\d.]+[smhd]?)|\w+|[\d.]+[smhd]?)$/,
  ],
]);

const OPTIONS = new Map<string, Options>([
  [
    "env",
    {
      values: "-u --unset -C --chdir",
      flags: "- -i -0 -v --ignore-environment --null --debug",
      opaque: "-S --split-string",
      assignments: true,
    },
  ],
  [
    "time",
    { values: "-f -o --format --output", flags: "-p -v -q -a --portability --verbose --append", assignments: true },
  ],
  ["nice", { values: "-n --adjustment" }],
  [
    "timeout",
    { values: "-s -k --signal --kill-after", flags: "-v -f -p --foreground --preserve-status --verbose", operands: 1 },
  ],
  ["nohup", {}],
  ["setsid", { flags: "-c -f -w --ctty --fork --wait" }],
  ["stdbuf", { values: "-i -o -e --input --output --error" }],
  ["ionice", { values: "-c -n -p -P -u --class --classdata", flags: "-t --ignore" }],
  ["taskset", { flags: "-a -c --all-tasks --cpu-list", operands: 1 }],
  ["chroot", { values: "--userspec --groups", operands: 1 }],
  ["doas", { values: "-u -C -a", flags: "-n -L", opaque: "-s" }],
  ["command", { flags: "-p -v -V" }],
  ["builtin", {}],
  ["exec", { values: "-a", flags: "-c -l" }],
  ...named("busybox toybox fakeroot unbuffer caffeinate", {}),
]);

/** Of these too little is known: the command may begin at any of their words. */
const LOOSE = new Set(
  (
    "strace ltrace valgrind unshare nsenter setpriv prlimit systemd-run chrt numactl setarch linux32 linux64 firejail bwrap proot " +
    "dbus-run-session xvfb-run chpst torsocks proxychains proxychains4 faketime perf rlwrap winpty corepack dotenv gtimeout gnice " +
    "coproc pkexec run0 entr cgexec torify setuidgid softlimit tini dumb-init gosu su-exec start-stop-daemon"
  ).split(" "),
);
const MOST_LOOSE = 100;

/** Of these, that run programs of a project, by subcommand. */
const RUNNERS = new Map<string, Set<string>>(
  Object.entries({
    npm: "exec x",
    pnpm: "exec dlx",
    yarn: "exec dlx",
    bun: "x",
    uv: "run",
    pipx: "run",
    poetry: "run",
    pipenv: "run",
    pdm: "run",
    hatch: "run",
    rye: "run",
    bundle: "exec",
    asdf: "exec",
    rbenv: "exec",
    pyenv: "exec",
  }).map(([name, subcommands]) => [name, new Set(subcommands.split(" "))]),
);
const LOOSE_RUNNERS = new Map(named("mise direnv nvm conda mamba volta", new Set(["exec", "x", "run"])));
/** These try what they don't know as a program. */
const FALL_BACK = new Set(["pnpm", "yarn", "bun"]);
const KNOWN = new Set(
  (
    "install i add remove rm uninstall un update up upgrade test t start run create publish pack list ls why outdated audit view info set " +
    "env config init import rebuild prune store root bin link unlink patch deploy licenses cache dedupe version workspace workspaces build"
  ).split(" "),
);
export const PACKAGE_RUNNERS = new Set(["npx", "bunx", "pnpx", "uvx"]);

/** These have a purpose of their own, too. */
const SEARCHES = new Set(["find", "gfind", "fd", "fdfind"]);

/** Whether all that it does is to run what its arguments say. */
export const isWrapper = (name: string): boolean =>
  OPTIONS.has(name) || LOOSE.has(name) || PACKAGE_RUNNERS.has(name) || (SPECIAL.has(name) && !SEARCHES.has(name));

export function lookThrough(name: string): Looker | undefined {
  const special = SPECIAL.get(name);
  if (special) return special;
  const options = OPTIONS.get(name);
  if (options) return (words) => behindOptions(name, words, options);
  // The loader runs any program that it is given.
  if (LOOSE.has(name) || /^ld[-.].*so/.test(name)) return loose;
  if (PACKAGE_RUNNERS.has(name)) return packageRunner;
  const loosely = LOOSE_RUNNERS.get(name);
  if (loosely) return (words) => looseRunner(words, loosely);
  const subcommands = RUNNERS.get(name);
  return subcommands && ((words) => runner(words, subcommands, FALL_BACK.has(name)));
}

function behindOptions(name: string, words: readonly Word[], options: Options): Partial<Look> {
  const { at, assignments, opaque } = starts(words, options);
  const inner = at.map((start) => words.slice(start));
  const passing = words.slice(1, at[0]);
  const harmless = HARMLESS.get(name);
  const isHarmless = passing.every(({ text }) => text !== undefined && harmless?.test(text));
  const reach = opaque ? Infinity : Math.max(0, ...at);
  return { inner, assignments, opaque, reach, harmless: harmless !== undefined && isHarmless && inner.length === 1 };
}

function loose(words: readonly Word[]): Partial<Look> {
  if (words.length > MOST_LOOSE) return { opaque: true, reach: Infinity };
  const inner = words.map((_, index) => words.slice(index)).filter(([first], index) => index > 0 && !isFlag(first!));
  // Without a command, many of them run a shell.
  return { inner, reach: words.length - 1, opaque: inner.length === 0 };
}

const isFlag = ({ text }: Word): boolean => text !== undefined && (text.startsWith("-") || text.includes("="));

function packageRunner(words: readonly Word[]): Partial<Look> {
  const { at, opaque } = starts(words, {
    values: "-p --package",
    flags: "-y --yes --no -q --quiet",
    opaque: "-c --call",
  });
  return {
    inner: at.map((start) => words.slice(start)),
    opaque,
    reach: opaque ? words.length - 1 : Math.max(0, ...at),
  };
}

function runner(words: readonly Word[], subcommands: Set<string>, fallsBack: boolean): Partial<Look> {
  const places = starts(words, {});
  const found = places.at.find((at) => subcommands.has(words[at]!.text ?? ""));
  if (found !== undefined) {
    const { at, opaque } = starts(words, { opaque: "-c --call --shell-mode" }, found + 1);
    const reach = opaque ? words.length - 1 : Math.max(found, ...at);
    return { inner: at.map((start) => words.slice(start)), opaque, reach };
  }
  const unknown = places.at.filter((at) => fallsBack && !KNOWN.has(words[at]!.text ?? ""));
  return { inner: unknown.map((at) => words.slice(at)), opaque: places.opaque };
}

/** What stands between these and the command is theirs. */
function looseRunner(words: readonly Word[], subcommands: Set<string>): Partial<Look> {
  const found = words.findIndex(({ text }, at) => at > 0 && subcommands.has(text ?? ""));
  return found < 0 ? {} : loose(words.slice(found));
}

const FIND_RUNS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
const FIND_WRITES = /^-(?:fprint0?|fprintf|fls)$/;
const REMOVES = [literal("rm"), ANYTHING];

function find(words: readonly Word[]): Partial<Look> {
  const inner: (readonly Word[])[] = [];
  let reach = -1;
  let opaque = false;
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    if (word.text === undefined && mayBeOption(word)) {
      reach = index;
      opaque ||= word.splits;
      inner.push(REMOVES);
    } else if (FIND_RUNS.has(word.text ?? "")) {
      const rest = words.slice(index + 1);
      const end = rest.findIndex(({ text }) => text === ";" || text === "+");
      const own = end < 0 ? rest : rest.slice(0, end);
      inner.push(filledIn(own, "{}"));
      reach = Math.max(reach, index + own.length);
    } else if (word.text === "-delete" || FIND_WRITES.test(word.text ?? "")) {
      if (word.text === "-delete") inner.push(REMOVES);
      reach = index;
    }
  }
  return { inner, reach, opaque };
}

/** What is put into the place of `{}` can't be told. */
const filledIn = (words: readonly Word[], ...places: readonly string[]): Word[] =>
  words.map((word) =>
    places.some((place) => word.prefix.includes(place)) ? { text: undefined, prefix: "", splits: true } : word,
  );

const FD_RUNS = /^(?:-[a-zA-Z]*[xX]|--exec(?:-batch)?)(.*)$/s;

function fd(words: readonly Word[]): Partial<Look> {
  const at = words.findIndex((word, index) => index > 0 && FD_RUNS.test(word.prefix));
  const unknown = words.findLastIndex((word, index) => index > 0 && word.text === undefined && mayBeOption(word));
  if (at < 0) return { reach: unknown };
  const isAttached = FD_RUNS.exec(words[at]!.prefix)![1] !== "";
  const inner = [...filledIn(words.slice(at + 1), "{"), ANYTHING];
  return { inner: [inner], reach: words.length - 1, opaque: isAttached };
}

const XARGS: Options = {
  values:
    "-I -J -R -n -P -d -E -L -s -a --max-args --max-procs --delimiter --max-lines --max-chars --arg-file --process-slot-var --eof",
  flags:
    "-0 -r -t -p -x -o -e -i -l --null --no-run-if-empty --verbose --interactive --exit --open-tty --show-limits --replace",
};

function xargs(words: readonly Word[]): Partial<Look> {
  const { at, opaque } = starts(words, XARGS);
  const reach = Math.max(0, ...at);
  const passing = words.slice(1, reach).map(({ text }) => text ?? "");
  const places = passing.flatMap((text, index) => {
    const found = /^(?:-[a-zA-Z0-9]*?[IiJ]|--replace=?)(.*)$/s.exec(text);
    return found ? [found[1] || "{}", passing[index + 1] ?? "{}"] : [];
  });
  const inner = at.map((start) => [...filledIn(words.slice(start), ...places), ANYTHING]);
  return { inner, opaque, reach };
}

/** The value of `-c` and its like, wherever it stands. */
function codeAfter(words: readonly Word[], option: RegExp): Partial<Look> | undefined {
  const at = words.findIndex(({ text }, index) => index > 0 && text !== undefined && option.test(text));
  if (at < 0) return undefined;
  const attached = /^(?:--[a-z-]+=|-[a-zA-Z]*?c(?=.))(.*)$/s.exec(words[at]!.text!)?.[1];
  const value = attached === undefined ? words[at + 1] : literal(attached);
  return { ...asCode(value ? [value] : []), reach: words.length - 1 };
}

/** A program that runs a shell if it is not told what else: what that reads can't be told. */
const SHELL_INSIDE: Partial<Look> = { opaque: true, reach: Infinity };

const C_OPTION = /^(?:-[a-zA-Z]*c|--(?:session-)?command)/;

function sudo(words: readonly Word[]): Partial<Look> {
  const values =
    "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role --type --chdir --chroot";
  const flags =
    "-A -b -B -E -e -H -i -K -k -l -n -P -S -s -V -v --login --shell --preserve-env --non-interactive --stdin";
  const { at, assignments, opaque } = starts(words, { values, flags, assignments: true });
  const inner = at.map((start) => words.slice(start));
  const isShell = words
    .slice(1, Math.max(1, ...at))
    .some(({ text }) => /^(?:-\w*[si]|--login|--shell)$/.test(text ?? ""));
  const parts = isShell ? inner.map(asCode) : [];
  const isUncertain = opaque || parts.some((part) => part.opaque) || (isShell && inner.length === 0);
  return {
    inner,
    assignments,
    code: parts.flatMap(({ code }) => code),
    opaque: isUncertain,
    reach: isShell ? words.length - 1 : Math.max(0, ...at),
  };
}

function watch(words: readonly Word[]): Partial<Look> {
  const { at, opaque: isUncertain } = starts(words, { values: "-n --interval", flags: "-b -c -d -e -g -p -t -w -x" });
  const parts = at.map((start) => asCode(words.slice(start)));
  const opaque = isUncertain || parts.some((part) => part.opaque);
  return { code: parts.flatMap(({ code }) => code), opaque, reach: words.length - 1 };
}

const SPECIAL = new Map<string, Looker>([
  ["find", find],
  ["gfind", find],
  ["fd", fd],
  ["fdfind", fd],
  ["xargs", xargs],
  ["sudo", sudo],
  ["watch", watch],
  ["su", (words) => codeAfter(words, C_OPTION) ?? SHELL_INSIDE],
  ["script", (words) => codeAfter(words, C_OPTION) ?? SHELL_INSIDE],
  ["runuser", (words) => codeAfter(words, C_OPTION) ?? loose(words)],
  [
    "flock",
    (words) =>
      codeAfter(words, C_OPTION) ??
      behindOptions("flock", words, { values: "-w -E --timeout", flags: "-s -x -e -n -u -o -F", operands: 1 }),
  ],
]);
