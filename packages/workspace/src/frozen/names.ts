import { namesOf } from "../paths.ts";

/** Who obeys it: git, the program that starts a session of the user, or Cinch. */
export type FrozenKind = "git" | "startup" | "cinch";

/** Where Cinch keeps what belongs to a folder. */
export const OWN_FOLDER = ".cinch";

/** In the folder of a repository: what git runs, what names programs that it runs, and what sends it to another configuration. */
export const GIT_FOLDER = "hooks";
export const GIT_FILES = ["config", "config.worktree", "commondir", "gitdir"];

/** In a home: what is run, or decides what is run, when the user logs in, opens a shell or uses git. */
export const STARTUP = `
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .inputrc
  .gitconfig .config/git .config/fish .config/autostart .config/systemd .config/environment.d
  .xprofile .xsession .xsessionrc .xinitrc .pam_environment .ssh/rc .ssh/config .ssh/authorized_keys
`
  .trim()
  .split(/\s+/);

/**
 * A name as every disk may take it: some ignore case, the way in which letters are composed, characters that are not seen, or dots and
 * spaces at the end, and one has second names such as `git~1`.
 */
export function folded(name: string): string {
  const seen = name
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFC")
    // Some letters have one capital and two small ones.
    .toUpperCase()
    .toLowerCase()
    .normalize("NFC")
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "");
  return /^(?:git|cinch)~1$/.test(seen) ? `.${seen.slice(0, -2)}` : seen;
}

/** What a path is frozen as by its names alone, wherever in the workspace it is, also if there is nothing yet. */
export function kindByName(path: string): Exclude<FrozenKind, "startup"> | undefined {
  const names = namesOf(path).map(folded);
  if (names.includes(OWN_FOLDER)) return "cinch";
  const isGit = names.some(
    (name, at) => name === ".git" && (at === names.length - 1 || inRepository(names.slice(at + 1))),
  );
  return isGit ? "git" : undefined;
}

/** Of names below the folder of a repository, its worktrees and submodules included. */
export function inRepository([first = "", ...rest]: readonly string[]): boolean {
  if (first === GIT_FOLDER) return true;
  if (rest.length === 0) return GIT_FILES.includes(first);
  // Names of submodules may have slashes in them.
  if (first === "modules") return rest.some((_, at) => at > 0 && inRepository(rest.slice(at)));
  return first === "worktrees" && inRepository(rest.slice(1));
}
