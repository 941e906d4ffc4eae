import { wordList } from "../contents/word-list.ts";

/** Variables of the harness that commands get: where things are and how text is written, but no keys. */
const INHERITED = new Set(
  wordList(`
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
    CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV
  `),
);

/** There is no terminal, so no program may page, draw or prompt. */
const FIXED = {
  TERM: "dumb",
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: ":",
  GIT_SEQUENCE_EDITOR: ":",
  GIT_TERMINAL_PROMPT: "0",
};

export type Environment = Record<string, string>;

/** Variables to add. `undefined` removes a variable. */
export type Additions = Readonly<Record<string, string | undefined>>;

/** The environment of a command, without additions. */
export function commandEnvironment(harness: NodeJS.ProcessEnv): Environment {
  const inherited = Object.entries(harness).filter(([name]) => INHERITED.has(name) || name.startsWith("LC_"));
  return withAdditions({ PATH: "/usr/local/bin:/usr/bin:/bin" }, { ...Object.fromEntries(inherited), ...FIXED });
}

export function withAdditions(env: Environment, additions: Additions = {}): Environment {
  const all = Object.entries({ ...env, ...additions });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
