type Place = "text" | "escape" | "sequence" | "string" | "string-escape";

const ESC = "\u001b";
/** Marks that turn the direction of text round: with them a line can be made to read as something else. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/;

/**
 * Leaves of a text only what can be read: no escape sequences, no control characters but line ends and tabs. Keeps its place
 * between pieces, because a stream may cut a sequence anywhere.
 */
export class PlainText {
  #place: Place = "text";

  push(piece: string): string {
    let out = "";
    for (const char of piece) out += this.#take(char);
    return out;
  }

  #take(char: string): string {
    switch (this.#place) {
      case "text":
        return this.#read(char);
      case "escape":
        return this.#afterEscape(char);
      case "sequence":
        // A sequence ends with a letter or a sign; anything that can't be part of one was text after all.
        if (char >= "\u0020" && char <= "\u003f") return "";
        this.#place = "text";
        return char >= "\u0040" && char <= "\u007e" ? "" : this.#read(char);
      case "string":
        return this.#inString(char);
      case "string-escape":
        this.#place = "text";
        return char === "\\" ? "" : this.#afterEscape(char);
    }
  }

  #read(char: string): string {
    const code = char.codePointAt(0)!;
    if (code >= 0x20 && code < 0x7f) return char;
    if (char === "\n" || char === "\t") return char;
    if (char === ESC) this.#place = "escape";
    else if (code === 0x9b) this.#place = "sequence";
    else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) this.#place = "string";
    return code < 0xa0 || BIDI.test(char) ? "" : char;
  }

  #afterEscape(char: string): string {
    if (char === "[") this.#place = "sequence";
    else if ("]PX^_".includes(char)) this.#place = "string";
    else if (char >= "\u0020" && char <= "\u002f") this.#place = "escape";
    else {
      this.#place = "text";
      // Of a lone escape before a line end or a letter of another script only the escape goes.
      if (char < "\u0020" || char > "\u007e") return this.#read(char);
    }
    return "";
  }

  #inString(char: string): string {
    if (char === ESC) this.#place = "string-escape";
    else if (char === "\u0007" || char === "\u009c") this.#place = "text";
    else if (char === "\n") {
      // One that never ends must not swallow the rest of the answer.
      this.#place = "text";
      return char;
    }
    return "";
  }
}

export const plain = (text: string): string => new PlainText().push(text);

/** On one line, and no longer than this. */
export function short(text: string, length = 100): string {
  const line = plain(text).replace(/\s+/g, " ").trim();
  const letters = Array.from(line);
  return letters.length <= length ? line : `${letters.slice(0, length - 1).join("")}…`;
}
