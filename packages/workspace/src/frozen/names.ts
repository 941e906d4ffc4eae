import { namesOf } from "../paths.ts";
import { wordList } from "../contents/word-list.ts";

/** Which program obeys the file: git, the one that starts a session of the user, or Cinch. */
export type FrozenKind = "git" | "startup" | "cinch";

/** The folder of Cinch in a workspace. */
export const OWN_FOLDER = ".cinch";

/** In the folder of a repository: what git runs, what configures programs for it, and what names another repository. */
export const GIT_FOLDER = "hooks";
export const GIT_FILES = ["config", "config.worktree", "commondir", "gitdir"];

/** In a home: what decides which programs run when the user logs in, opens a shell or uses git. */
export const STARTUP = wordList(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .inputrc
  .gitconfig .config/git .config/fish .config/autostart .config/systemd .config/environment.d
  .xprofile .xsession .xsessionrc .xinitrc .pam_environment .ssh/rc .ssh/config .ssh/authorized_keys
`);

/**
 * The same for all names that some disk takes for the same: disks may ignore case, how letters are composed, invisible characters, or dots
 * and spaces at the end, and one has short names such as `git~1`.
 */
export function folded(name: string): string {
  const seen = name
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFC")
    // Some capital letters have two small ones.
    .toUpperCase()
    .toLowerCase()
    .normalize("NFC")
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "");
  return /^(?:git|cinch)~1$/.test(seen) ? `.${seen.slice(0, -2)}` : seen;
}

/** Why a path is frozen by its names alone, anywhere in the workspace. The file may not exist yet. */
export function kindByName(path: string): Exclude<FrozenKind, "startup"> | undefined {
  const names = namesOf(path).map(folded);
  if (names.includes(OWN_FOLDER)) return "cinch";
  const isGit = names.some(
    (name, at) => name === ".git" && (at === names.length - 1 || inRepository(names.slice(at + 1))),
  );
  return isGit ? "git" : undefined;
}

/** Whether names below the folder of a repository mean something frozen, also in its worktrees and submodules. */
export function inRepository([first = "", ...rest]: readonly string[]): boolean {
  if (first === GIT_FOLDER) return true;
  if (rest.length === 0) return GIT_FILES.includes(first);
  // The names of submodules may have slashes.
  if (first === "modules") return rest.some((_, at) => at > 0 && inRepository(rest.slice(at)));
  return first === "worktrees" && inRepository(rest.slice(1));
}
