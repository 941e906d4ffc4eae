import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, resolve, sep } from "node:path";
import { frozenFiles, textOf } from "../frozen/files.ts";
import type { CommandLine, SandboxBounds } from "./sandbox.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Where the system and its programs are. Everything else outside of the workspace is not there for a command. */
const SYSTEM = words(`
  /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt
  /nix /gnu /snap /home/linuxbrew/.linuxbrew
`);

/** Where people install tools in their home. What is private in these tools lies beside, not in them. */
const TOOLS = words(`
  .cargo/bin .rustup .pyenv .rbenv .nvm .volta .asdf .sdkman go/bin
  .deno/bin .bun/bin .local/bin .local/share/mise .local/share/pnpm .local/share/uv
`);

/** Secrets of the system that only root can read: for a harness that runs as root. */
const SYSTEM_SECRETS = words(`
  shadow shadow- gshadow gshadow- sudoers sudoers.d security/opasswd krb5.keytab
  ssh/ssh_host_rsa_key ssh/ssh_host_ecdsa_key ssh/ssh_host_ed25519_key ssl/private letsencrypt
  docker kubernetes rancher wireguard NetworkManager/system-connections
`).map((name) => `/etc/${name}`);

/** Services that listen among the files of the system. */
const SYSTEM_SERVICES = ["/nix/var/nix/daemon-socket"];

/** Secrets in a home: for a workspace that is somebody's home. */
const HOME_SECRETS = words(`
  .ssh .gnupg .aws .azure .config .docker .kube .netrc .npmrc .yarnrc.yml .pypirc
  .git-credentials .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
  .gradle/gradle.properties .terraform.d .vault-token .pgpass .my.cnf .password-store .mozilla
  .local/share/keyrings .bash_history .zsh_history .python_history .claude .codex .gemini
`);

/** What a command sees of the files of the machine, and what of that it may not change. Only what exists, by its real path. */
export interface View {
  /** `undefined`: it has none. */
  home: string | undefined;
  readable: string[];
  hidden: string[];
  /** Inside of the root, but not to be changed, because somebody else runs it: hooks, and what names programs. */
  frozen: string[];
}

export function viewFor({ env }: CommandLine, bounds: SandboxBounds): View {
  const { root } = bounds;
  const home = env.HOME?.startsWith("/") && env.HOME !== "/" ? real(env.HOME)[0] : undefined;
  const inHome = (names: string[]) => (home === undefined ? [] : names.map((name) => join(home, name)));
  const programs = (env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  // A tool in a folder that holds the home is no reason to show the home.
  const tools = [...inHome(TOOLS), ...programs].filter((path) => home === undefined || !isIn(home, path));
  const seen = [...tools, ...bounds.readable, ...repositoryOf(root)].flatMap(real).filter((path) => !isIn(path, root));
  const readable = outermost([...SYSTEM.filter((path) => existsSync(path)), ...seen]);
  const secrets = [...SYSTEM_SECRETS, ...SYSTEM_SERVICES, ...inHome(HOME_SECRETS), ...bounds.hidden].flatMap(real);
  return {
    home,
    readable,
    hidden: secrets.filter((path) => [root, ...readable].some((folder) => isIn(path, folder))),
    // What is a link can't be mounted on; what it leads to is in the list itself.
    frozen: outermost(frozenFiles({ root, home }).flatMap(({ path }) => real(path).filter((one) => one === path))),
  };
}

/** Without what lies in another of them. */
function outermost(paths: string[]): string[] {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => other !== path && isIn(path, other)));
}

/** Whether `path` is `folder` or in it. */
export const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Where it really is, if it is there. */
function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** Where the repository is whose worktree `root` is. Believed only if that repository says so, too: the file could name any folder. */
function repositoryOf(root: string): string[] {
  try {
    const own = smallText(join(root, ".git")).replace(/^gitdir: */, "");
    const folder = resolve(root, own);
    if (resolve(folder, smallText(join(folder, "gitdir"))) !== join(root, ".git")) return [];
    const common = resolve(folder, smallText(join(folder, "commondir")));
    return dirname(folder) === join(common, "worktrees") ? [common] : [];
  } catch {
    return [];
  }
}

function smallText(path: string): string {
  const found = textOf(path);
  if (found === undefined) throw new Error(`${path} can't be read.`);
  return found;
}
