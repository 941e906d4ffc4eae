import { wordList } from "../contents/word-list.ts";
import type { LineAnalysis, SimpleCommand } from "./findings.ts";
import { baseName } from "./word.ts";

/** For these only the same line is suggested, because they reach other machines or replace files. */
const EXACT = new Set(
  wordList("mv cp ln tee truncate curl kill pkill killall chmod chown dd git/config kubectl/delete"),
);

/** For these nothing is suggested: the next line may do something else, and can't be undone. */
const NEVER = new Set(
  wordList(`
    rm rmdir unlink shred dd mkfs fdisk parted wipefs reboot shutdown halt poweroff init passwd usermod useradd userdel visudo mount
    umount iptables nft crontab eval source . exec alias trap set shopt export unset read
  `),
);

const LONGEST = 200;
const PLAIN = /^[\w.,:/@%+=-]+$/;
const SUBCOMMAND = /^[A-Za-z][\w:.-]*$/;

/** The narrowest useful pattern, if it is the same for all commands of the line. The matcher decides whether it covers the line. */
export function suggestion({ commands, doubtful, more }: LineAnalysis): string | undefined {
  if (doubtful || more || commands.length === 0) return undefined;
  const all = new Set(commands.map((command) => (command.opaque ? undefined : patternFor(command))));
  const [only] = all;
  return all.size === 1 && only !== undefined && only.length <= LONGEST ? only : undefined;
}

function patternFor({ words, keep }: SimpleCommand): string | undefined {
  const texts = words.map(({ text }) => text);
  const name = texts[0]!;
  const base = baseName(name);
  if (keep < 0 || !PLAIN.test(name) || NEVER.has(base) || base.startsWith("mkfs.") || NEVER.has(texts[keep - 1] ?? ""))
    return undefined;
  const spoken = texts.slice(0, keep);
  const isSpoken = keep > 0 && spoken.length === keep && spoken.slice(1).every((text) => SUBCOMMAND.test(text ?? ""));
  if (!isSpoken || EXACT.has(spoken.join("/"))) return exactly(texts);
  return `${spoken.join(" ")} *`;
}

/** The words themselves, quoted where needed. */
function exactly(texts: readonly (string | undefined)[]): string | undefined {
  if (texts.includes(undefined)) return undefined;
  return texts.map((text) => (PLAIN.test(text!) ? text! : `'${text!.replaceAll("'", String.raw`'\''`)}'`)).join(" ");
}
