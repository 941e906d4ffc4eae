import type { HarnessDisplayState, Session } from "@cinch/core";
import type { Project } from "../../setup/project.ts";
import type { Copied } from "../../terminal/clipboard.ts";
import type { Line } from "../../terminal/line.ts";
import type { ViewContext } from "../../views/view.ts";

/** A command of the composer, such as `/threads`. A file each; `index.ts` lists them. */
export interface AppCommand {
  /** Without the slash. */
  name: string;
  /** For the completion and for `/help`: a few words. */
  description: string;
  /** What may follow the name, for `/help`: `[title]`. */
  argument?: string;
  /** An error is shown to the user, and the app goes on. */
  run(argument: string, context: CommandContext): Promise<void> | void;
}

/** What a command can do: the same in a terminal and in lines of text. */
export interface CommandContext {
  readonly project: Project;
  readonly session: Session;
  display(): HarnessDisplayState;
  /** For what a command prints with views. Where lines are not broken, `rows` is `Infinity`: nothing is too long to be printed. */
  screen(): CommandScreen;
  /** The keys in force, for `/help`. Empty where there are none. */
  keys(): readonly KeyHelp[];
  /** Printed once, in the order of the calls. */
  print(lines: readonly Line[]): void;
  /** One line of information. */
  say(message: string): void;
  /** A list that is searched by typing. `undefined`: the user closed it. */
  pick<T>(list: PickList<T>): Promise<T | undefined>;
  /** Asks for one line of text. `undefined`: the user closed it. */
  ask(question: { title: string; initial?: string; hidden?: boolean }): Promise<string | undefined>;
  /** Everything unfolded and searchable, on the alternate screen. */
  page(pages: { title: string; lines: readonly Line[] }): Promise<void>;
  /** In `$VISUAL` or `$EDITOR`. `undefined`: the editor failed, and the user was shown why. */
  edit(text: string, options: { extension: string }): Promise<string | undefined>;
  /** Replaces the text of the composer. */
  compose(text: string): void;
  copy(text: string): Promise<Copied>;
  /** Prints a rule with the title and the newest messages, because another thread or another state of it is shown from now on. */
  showThread(): void;
  quit(): void;
}

export interface CommandScreen extends ViewContext {
  rows: number;
}

/** A key, or several, as a person writes them, and what they do. */
export interface KeyHelp {
  keys: string;
  action: string;
}

export interface PickList<T> {
  title: string;
  items: readonly PickItem<T>[];
  /** Loads items for what was typed, where the list is longer than what can be given at once. */
  search?: (query: string) => Promise<readonly PickItem<T>[]>;
  /** What is shown below the list for the item under the cursor, for example what a rewind would change. */
  preview?: (item: PickItem<T>) => Promise<readonly Line[]>;
  /** In which ways an item can be chosen, the default first, for example `b both`. Enter chooses; a key only changes the way. */
  ways?: readonly PickWay<T>[];
}

export interface PickWay<T> {
  /** One letter. It begins no search; in a search it is a letter like others. */
  key: string;
  label: string;
  /** What is chosen, and previewed, of an item. */
  value(chosen: T): T;
}

export interface PickItem<T> {
  value: T;
  label: string;
  /** In columns after the label. */
  details?: readonly string[];
}
