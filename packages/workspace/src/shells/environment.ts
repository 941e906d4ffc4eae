/** What a command learns of the environment of the harness: where things are and how text is written, nothing that is a key. */
const KEPT = new Set(
  `
  PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
  CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV
`
    .trim()
    .split(/\s+/),
);

/** There is no terminal, so nothing may page, draw or wait for a person. */
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

/** What somebody wants to add. `undefined` takes a variable away. */
export type Additions = Readonly<Record<string, string | undefined>>;

/** What of the environment of the harness a command gets. */
export function commandEnvironment(harness: NodeJS.ProcessEnv): Environment {
  const kept = Object.entries(harness).filter(([name]) => KEPT.has(name) || name.startsWith("LC_"));
  return withAdditions({ PATH: "/usr/local/bin:/usr/bin:/bin" }, { ...Object.fromEntries(kept), ...FIXED });
}

export function withAdditions(env: Environment, additions: Additions = {}): Environment {
  const all = Object.entries({ ...env, ...additions });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
