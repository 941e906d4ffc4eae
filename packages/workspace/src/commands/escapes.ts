import { named, type Look } from "./look.ts";
import { mayBeOption, type Word } from "./word.ts";

/** Arguments with which programs that look harmless do something else. */
interface Escape {
  /** They run another program. */
  runs?: RegExp;
  /** The same, as the first argument. */
  first?: RegExp;
  /** They write a file, or take their orders from another folder. */
  writes?: RegExp;
}

const ESCAPES = new Map<string, Escape>([
  ...named("tar gtar bsdtar", {
    runs: /^(?:-[a-zA-Z]*[IF]|--(?:use-c|checkpoint-a|to-c|info-s|new-v|rsh-c|rmt-c))/,
    first: /^[a-zA-Z]*[IF]/,
  }),
  ["rsync", { runs: /^(?:-[a-zA-Z]*e|--rsh|--rsync-p)/ }],
  ["sort", { runs: /^--comp/, writes: /^(?:-[a-zA-Z]*o|--o)/ }],
  ["rg", { runs: /^--(?:pre|hostname-bin)/ }],
  ["man", { runs: /^(?:-[a-zA-Z]*[PHC]|--(?:pag|html|conf))/ }],
  ["less", { writes: /^(?:-[a-zA-Z]*[oO]|--log|\+)/ }],
  ["tree", { writes: /^-o/ }],
  ["yq", { writes: /^(?:-[a-zA-Z]*i|--inplace)/ }],
  ["split", { runs: /^--f/ }],
  ["zip", { runs: /^(?:-[a-zA-Z]*T|--unzip-c)/ }],
  ["wget", { runs: /^(?:--use-a|-e|--exe)/ }],
  [
    "make",
    {
      runs: /^(?:--ev|-f-?$|-f-|--(?:make)?file=-|SHELL)/,
      writes: /^(?:-[fCI]|--(?:f|make|dir|incl)|[A-Za-z_]+[:+?]*=)/,
    },
  ],
  ["go", { runs: /^--?(?:exec|toolexec|vettool|overlay)/ }],
  ["cargo", { runs: /^(?:--config|-Z)/, writes: /^(?:--manifest-path|-C)/ }],
  ...named("gcc g++ cc c++ clang clang++", { runs: /^(?:-wrapper|-fplugin|-specs|-B|-Xclang)/ }),
  ...named("ssh scp sftp", {
    runs: /(?i:(?:Proxy|Local|KnownHosts)Command|PKCS11Provider|SecurityKeyProvider)|^-[a-zA-Z46]*[FSI]/,
  }),
  ...named("npm pnpm yarn", {
    runs: /^--(?:scr|sh|node-o|userc|globalc)/,
    writes: /^(?:--(?:pref|dir|cwd)|-C)/,
  }),
  ...named("apt apt-get", { runs: /^(?:-[a-z]*[oc]|--opt|--conf)/ }),
  ["tcpdump", { runs: /^-[a-zA-Z]*z/, writes: /^-[a-zA-Z]*w/ }],
  ["sqlite3", { runs: /\.(?:shell|system)|load_extension|edit\s*\(|^-(?:cmd|init)/, writes: /\.|writefile/ }],
  ...named("psql mysql mariadb", { runs: /\\|system|program/i }),
  ["date", { writes: /^(?:-[a-zA-Z]*s|--set)/ }],
]);

/** The last argument of this kind has to be named by whoever allows it; a name of a file can be one, too. */
export function escapes(name: string, words: readonly Word[]): Partial<Look> {
  const known = ESCAPES.get(name);
  if (!known) return {};
  let reach = -1;
  let opaque = false;
  for (const [at, word] of words.entries()) {
    if (at === 0) continue;
    const runs = known.runs?.test(word.prefix) || (at === 1 && known.first?.test(word.prefix)) || false;
    if (runs || (word.text === undefined && mayBeOption(word)) || known.writes?.test(word.prefix)) reach = at;
    opaque ||= runs;
  }
  return { reach, opaque };
}
