/** A line of the frontmatter. */
export interface YamlLine {
  line: number;
  text: string;
}

export const indentOf = ({ text }: YamlLine): number => text.length - text.trimStart().length;

export const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text);

/** Ends the parsing: what follows could mean anything. */
export class BadFrontmatter extends Error {
  override readonly name = "BadFrontmatter";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}
