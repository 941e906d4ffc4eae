import { LetterDecoder } from "./letter-decoder.ts";
import { charKey, csiKey, ss3Key, type KeyPress } from "./key-codes.ts";

/**
 * What comes from a terminal. The name of a key is its modifiers, in this order, and what is on it: `ctrl-alt-shift-up`, `alt-enter`,
 * `ctrl-a`, `alt-shift-b`. A character without Ctrl and Alt is `text`.
 */
export type KeyEvent =
  | { type: "key"; key: string }
  | { type: "text"; text: string }
  | { type: "paste"; text: string }
  | { type: "focus"; focused: boolean }
  /** The terminal knows the kitty protocol. */
  | { type: "kitty" }
  /** Every terminal answers this: a question before it that has no answer yet gets none. */
  | { type: "attributes" };

const ESC = "\u001b";
const LONE_ESCAPE_MS = 50;
const PASTE_SILENCE_MS = 1_000;
const PASTE_END = `${ESC}[201~`;
/** No key is longer. */
const LONGEST = 64;
// oxlint-disable no-control-regex
const CSI = /^\u001b\[([\u0030-\u003f]*)[\u0020-\u002f]*([\u0040-\u007e])/;
const CSI_START = /^\u001b\[[\u0030-\u003f]*[\u0020-\u002f]*/;
/** What a person may have typed: Esc, Esc Esc, Alt-[ or Alt-O. With a parameter, the rest of the sequence is on its way. */
const TYPED = /^\u001b{1,2}[[O]?$/;
// oxlint-enable no-control-regex

/** What the start of the input means. `paste`: a paste begins behind it. */
interface Recognised {
  events: (KeyEvent | "paste")[];
  length: number;
}

/**
 * Decodes the bytes of a terminal, however they are split. It has no clock: while `timeoutMs` is a number, the caller must call `timeout()`
 * after so much time without bytes.
 */
export class KeyDecoder {
  readonly #bytes: TextDecoder | LetterDecoder;
  /** Input that may be the start of a sequence. */
  #rest = "";
  /** The pieces of a paste whose end has not come. */
  #paste: string[] | null = null;

  constructor({ encoding = "utf-8" }: { encoding?: "utf-8" | "latin1" } = {}) {
    this.#bytes = encoding === "utf-8" ? new TextDecoder() : new LetterDecoder();
  }

  get #isHolding(): boolean {
    return this.#bytes instanceof LetterDecoder && this.#bytes.isHolding;
  }

  get timeoutMs(): number | null {
    if (this.#paste) return PASTE_SILENCE_MS;
    return TYPED.test(this.#rest) || this.#isHolding ? LONE_ESCAPE_MS : null;
  }

  push(bytes: Uint8Array): KeyEvent[] {
    this.#rest += this.#bytes.decode(bytes, { stream: true });
    return this.#decode({ timedOut: false });
  }

  timeout(): KeyEvent[] {
    if (this.timeoutMs === null) return [];
    if (this.#isHolding) {
      this.#rest += this.#bytes.decode();
      this.#paste?.push(this.#rest);
    }
    if (!this.#paste) return this.#decode({ timedOut: true });
    // The rest is the start of an end mark, which is no part of the paste.
    this.#rest = "";
    return [this.#pasted()];
  }

  #decode({ timedOut }: { timedOut: boolean }): KeyEvent[] {
    const events: KeyEvent[] = [];
    const input = this.#rest;
    let at = 0;
    this.#rest = "";
    while (at < input.length) {
      if (this.#paste) {
        at = this.#readPaste(input, at, events);
        continue;
      }
      const found = recognise(input.slice(at, at + LONGEST), { timedOut });
      if (!found) {
        this.#rest = input.slice(at);
        break;
      }
      at += found.length;
      for (const event of found.events) {
        if (event === "paste") this.#paste = [];
        else events.push(event);
      }
    }
    return events;
  }

  #readPaste(input: string, from: number, events: KeyEvent[]): number {
    const end = input.indexOf(PASTE_END, from);
    if (end < 0) {
      const kept = startOfMark(input, from);
      this.#paste!.push(input.slice(from, input.length - kept));
      this.#rest = input.slice(input.length - kept);
      return input.length;
    }
    this.#paste!.push(input.slice(from, end));
    events.push(this.#pasted());
    return end + PASTE_END.length;
  }

  #pasted(): KeyEvent {
    const text = this.#paste!.join("").replace(/\r\n?/g, "\n");
    this.#paste = null;
    return { type: "paste", text };
  }
}

/** How many characters at the end of the input may be the start of an end mark. */
function startOfMark(input: string, from: number): number {
  for (let length = Math.min(PASTE_END.length - 1, input.length - from); length > 0; length--)
    if (PASTE_END.startsWith(input.slice(input.length - length))) return length;
  return 0;
}

/** `null` if more input may change the meaning. After a timeout there is always a meaning. */
function recognise(input: string, { timedOut }: { timedOut: boolean }): Recognised | null {
  if (input[0] !== ESC) return keyAt(input, 0);
  if (input.length === 1 && !timedOut) return null;
  switch (input[1]) {
    case undefined:
      return { events: [{ type: "key", key: "escape" }], length: 1 };
    case ESC:
      return afterTwoEscapes(input, { timedOut });
    case "[":
      return csi(input, { timedOut });
    case "O":
      return ss3(input, { timedOut });
    default:
      return keyAt(input, 1);
  }
}

function csi(input: string, { timedOut }: { timedOut: boolean }): Recognised | null {
  // The Linux console sends ESC [ [ A for F1.
  if (input[2] === "[" && input.length > 3) return { events: [], length: 4 };
  const found = input[2] === "[" ? null : CSI.exec(input);
  if (found) return { events: csiEvents(found[1]!, found[2]!), length: found[0].length };
  if (timedOut) return keyAt(input, 1);
  const [start] = CSI_START.exec(input)!;
  if (start.length === LONGEST) return { events: [], length: LONGEST };
  if (start.length === input.length || input[2] === "[") return null;
  // A character that can't be part of a sequence ends it.
  return { events: [], length: start.length };
}

function csiEvents(parameters: string, final: string): Recognised["events"] {
  if (parameters === "200" && final === "~") return ["paste"];
  if (parameters === "" && (final === "I" || final === "O")) return [{ type: "focus", focused: final === "I" }];
  if (parameters.startsWith("?") && final === "u") return [{ type: "kitty" }];
  if (parameters.startsWith("?") && final === "c") return [{ type: "attributes" }];
  if (/^[<=>?]/.test(parameters)) return [];
  return pressed(csiKey(parameters, final));
}

function ss3(input: string, { timedOut }: { timedOut: boolean }): Recognised | null {
  if (input.length < 3 && !timedOut) return null;
  const key = input[2] === undefined ? undefined : ss3Key(input[2]);
  return key === undefined ? keyAt(input, 1) : { events: pressed(key), length: 3 };
}

/** Some terminals send Alt and an arrow as Esc and the sequence of the arrow. Otherwise the first Esc stands for itself. */
function afterTwoEscapes(input: string, { timedOut }: { timedOut: boolean }): Recognised | null {
  const escape: Recognised = { events: [{ type: "key", key: "escape" }], length: 1 };
  if (input.length === 2 && !timedOut) return null;
  if (input[2] !== "[" && input[2] !== "O") return escape;
  const inner = recognise(input.slice(1), { timedOut });
  if (!inner) return null;
  const [event] = inner.events;
  if (typeof event !== "object" || event.type !== "key" || /alt-|escape/.test(event.key)) return escape;
  const key = event.key.startsWith("ctrl-") ? event.key.replace("ctrl-", "ctrl-alt-") : `alt-${event.key}`;
  return { events: [{ type: "key", key }], length: inner.length + 1 };
}

/** The character there, with Alt if an Esc is before it. */
function keyAt(input: string, at: number): Recognised {
  const char = String.fromCodePoint(input.codePointAt(at)!);
  return { events: pressed(charKey(char, { alt: at > 0 })), length: at + char.length };
}

const pressed = (key: KeyPress): KeyEvent[] => (key ? [key] : []);
