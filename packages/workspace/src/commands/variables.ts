import type { Syntax } from "./syntax.ts";
import type { Word } from "./word.ts";

/**
 * Arithmetic evaluates the text of a variable: with `x='a[$(git push)]'`, `$((x))` pushes. So a variable that is set to anything but a
 * number, and calculated with, may run anything.
 */
export class Variables {
  /** Those whose text may be anything but a number. */
  readonly #texts = new Set<string>();
  readonly #evaluated = new Set<string>();

  set(name: string, value: Word | undefined): void {
    if (value?.text === undefined || !/^-?\d*$/.test(value.text)) this.#texts.add(name);
  }

  /** Everything that is named in there is calculated with. */
  evaluate({ type, start, end, children }: Syntax, source: string): void {
    if (/^(?:word|(?:special_)?variable_name)$/.test(type)) this.#evaluated.add(source.slice(start, end));
    for (const child of children) if (child.type !== "command_substitution") this.evaluate(child, source);
  }

  /** The arguments of a script or a function may be anything. */
  get mayRun(): boolean {
    return [...this.#evaluated].some((name) => this.#texts.has(name) || /^(?:[1-9]\d*|[@*_])$/.test(name));
  }
}
