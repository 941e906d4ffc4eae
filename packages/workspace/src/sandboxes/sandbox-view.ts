import { existsSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { frozenFiles, readSmallText } from "../frozen/frozen-files.ts";
import { isFolder, realPath } from "../disk/on-disk.ts";
import { isWithin } from "../paths.ts";
import { wordList } from "../contents/word-list.ts";
import type { CommandLine, SandboxBounds } from "./sandbox.ts";

/** The system and its programs. Commands see nothing else outside of the workspace. */
const SYSTEM = wordList(`
  /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt
  /nix /gnu /snap /home/linuxbrew/.linuxbrew
`);

/** Where people install tools in their home. The private files of these tools are elsewhere. */
const TOOLS = wordList(`
  .cargo/bin .rustup .pyenv .rbenv .nvm .volta .asdf .sdkman go/bin
  .deno/bin .bun/bin .local/bin .local/share/mise .local/share/pnpm .local/share/uv
`);

/** Secrets of the system that only root can read: for a harness that runs as root. */
const SYSTEM_SECRETS = wordList(`
  shadow shadow- gshadow gshadow- sudoers sudoers.d security/opasswd krb5.keytab
  ssh/ssh_host_rsa_key ssh/ssh_host_ecdsa_key ssh/ssh_host_ed25519_key ssl/private letsencrypt
  docker kubernetes rancher wireguard NetworkManager/system-connections
`).map((name) => `/etc/${name}`);

/** Sockets of services among the files of the system. */
const SYSTEM_SERVICES = ["/nix/var/nix/daemon-socket"];

/** Secrets in a home: for a workspace that is a home. */
const HOME_SECRETS = wordList(`
  .ssh .gnupg .aws .azure .config .docker .kube .netrc .npmrc .yarnrc.yml .pypirc
  .git-credentials .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
  .gradle/gradle.properties .terraform.d .vault-token .pgpass .my.cnf .password-store .mozilla
  .local/share/keyrings .bash_history .zsh_history .python_history .claude .codex .gemini
`);

/** The files of the machine that a command sees, and those of them that it can't change. Only existing files, by their real paths. */
export interface SandboxView {
  /** `undefined`: it has none. */
  home: string | undefined;
  readable: string[];
  hidden: string[];
  /** Inside the root, but read-only, because other programs obey these files. */
  frozen: string[];
}

export function viewFor({ env }: CommandLine, bounds: SandboxBounds): SandboxView {
  const { root } = bounds;
  const given = env.HOME?.startsWith("/") && env.HOME !== "/" ? realPath(env.HOME) : undefined;
  // The HOME of some accounts of services is /dev/null, on which no folder can be mounted.
  const home = given !== undefined && isFolder(given) ? given : undefined;
  const inHome = (names: string[]) => (home === undefined ? [] : names.map((name) => join(home, name)));
  const programs = (env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  // A folder of tools that contains the home does not make the home visible.
  const tools = realPaths([...inHome(TOOLS), ...programs]).filter(
    (path) => home === undefined || !isWithin(home, path),
  );
  const seen = [...tools, ...realPaths([...bounds.readable, ...repositoryOf(root)])];
  const readable = outermost([
    ...SYSTEM.filter((path) => existsSync(path)),
    ...seen.filter((path) => !isWithin(path, root)),
  ]);
  const secrets = realPaths([...SYSTEM_SECRETS, ...SYSTEM_SERVICES, ...inHome(HOME_SECRETS), ...bounds.hidden]);
  return {
    home,
    readable,
    hidden: secrets.filter((path) => [root, ...readable].some((folder) => isWithin(path, folder))),
    // A mount can't be put on a link. The list has the target of each link as well.
    frozen: outermost(frozenFiles({ root, home }).flatMap(({ path }) => (realPath(path) === path ? [path] : []))),
  };
}

const realPaths = (paths: readonly string[]): string[] =>
  paths.map(realPath).filter((path): path is string => path !== undefined);

/** Without paths that are within another one. */
function outermost(paths: string[]): string[] {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => other !== path && isWithin(path, other)));
}

/** The repository that `root` is a worktree of. The repository must name the worktree, too: `.git` could name any folder. */
function repositoryOf(root: string): string[] {
  const git = join(root, ".git");
  const pointer = readSmallText(git);
  if (pointer === undefined) return [];
  const folder = resolve(root, pointer.replace(/^gitdir: */, ""));
  const [worktree, common] = [join(folder, "gitdir"), join(folder, "commondir")].map(readSmallText);
  if (worktree === undefined || common === undefined || resolve(folder, worktree) !== git) return [];
  const repository = resolve(folder, common);
  return dirname(folder) === join(repository, "worktrees") ? [repository] : [];
}
