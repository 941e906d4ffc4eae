type ParserState = "text" | "escape" | "sequence" | "string" | "string-escape";

const ESC = "\u001b";
/** Characters that change the direction of text, by which a line can be made to read as something else. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/;

/**
 * Removes escape sequences and all control characters but line ends and tabs. Keeps its state between pieces, because a stream may
 * split a sequence anywhere.
 */
export class PlainText {
  #state: ParserState = "text";

  push(piece: string): string {
    let out = "";
    for (const char of piece) out += this.#take(char);
    return out;
  }

  #take(char: string): string {
    switch (this.#state) {
      case "text":
        return this.#read(char);
      case "escape":
        return this.#afterEscape(char);
      case "sequence":
        // A sequence ends with a character from @ to ~. Any other character that can't be part of one is text.
        if (char >= "\u0020" && char <= "\u003f") return "";
        this.#state = "text";
        return char >= "\u0040" && char <= "\u007e" ? "" : this.#read(char);
      case "string":
        return this.#inString(char);
      case "string-escape":
        this.#state = "text";
        return char === "\\" ? "" : this.#afterEscape(char);
    }
  }

  #read(char: string): string {
    const code = char.codePointAt(0)!;
    if (code >= 0x20 && code < 0x7f) return char;
    if (char === "\n" || char === "\t") return char;
    if (char === ESC) this.#state = "escape";
    else if (code === 0x9b) this.#state = "sequence";
    else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) this.#state = "string";
    return code < 0xa0 || BIDI.test(char) ? "" : char;
  }

  #afterEscape(char: string): string {
    if (char === "[") this.#state = "sequence";
    else if ("]PX^_".includes(char)) this.#state = "string";
    else if (char >= "\u0020" && char <= "\u002f") this.#state = "escape";
    else {
      this.#state = "text";
      // A character that can't follow an escape is kept, without the escape.
      if (char < "\u0020" || char > "\u007e") return this.#read(char);
    }
    return "";
  }

  #inString(char: string): string {
    if (char === ESC) this.#state = "string-escape";
    else if (char === "\u0007" || char === "\u009c") this.#state = "text";
    else if (char === "\n") {
      // An unterminated string must not swallow the rest of the answer.
      this.#state = "text";
      return char;
    }
    return "";
  }
}

export const plain = (text: string): string => new PlainText().push(text);

/** Plain text on one line, truncated to this length. */
export function short(text: string, length = 100): string {
  const line = plain(text).replace(/\s+/g, " ").trim();
  const letters = Array.from(line);
  return letters.length <= length ? line : `${letters.slice(0, length - 1).join("")}…`;
}

const PRINTABLE_ASCII = /^[\u0020-\u007e]*$/;
/**
 * Characters without a glyph, of which terminals disagree on the width: soft hyphen, direction marks, zero-width spaces, annotations,
 * tags, and joiners where there is nothing to join.
 */
const NO_GLYPH =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<![^\u0020-\u007e])[\u200c\u200d]/gu;
/** More marks than any script puts on one letter. They would be drawn over other lines. */
const TOO_MANY_MARKS = /(\p{M}{8})(\p{M}+)/gu;

/** One line of plain text. */
export function visible(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  return plain(text.toWellFormed())
    .replaceAll("\t", "    ")
    .replace(/[\n\u2028\u2029]/g, " ")
    .replace(NO_GLYPH, "")
    .replace(TOO_MANY_MARKS, "$1");
}

/** Controls, formats, unassigned and private characters, all that Unicode ignores when it draws, and each space but the usual one. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** Removes nothing: each character that a reader can't see is shown as its code point. */
export function reveal(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  const seen = text.replace(UNSEEN, codePoint);
  return seen.replace(TOO_MANY_MARKS, (_, some: string, rest: string) => some + Array.from(rest, codePoint).join(""));
}

const codePoint = (char: string): string => `<U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;
