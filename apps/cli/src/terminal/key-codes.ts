export interface Modifiers {
  ctrl?: boolean;
  alt?: boolean;
  shift?: boolean;
}

/** `A:up B:down`: a table in one line. */
const table = (entries: string): Record<string, string> =>
  Object.fromEntries(entries.split(" ").map((entry) => entry.split(":")));

const letters = table("A:up B:down C:right D:left H:home F:end P:f1 Q:f2 R:f3 S:f4 M:enter");
/** rxvt sends small letters with a modifier: Shift after CSI, Ctrl after SS3. */
const arrows = table("a:up b:down c:right d:left");
const numbers = table(
  "1:home 2:insert 3:delete 4:end 5:pageup 6:pagedown 7:home 8:end 11:f1 12:f2 13:f3 14:f4 15:f5 17:f6 18:f7 19:f8 20:f9 21:f10 23:f11 24:f12",
);
const codes = table("8:backspace 9:tab 13:enter 27:escape 32:space 127:backspace");
/** The keypad, as the kitty protocol numbers it from this code on. */
const PAD = 57_399;
const pad = "0 1 2 3 4 5 6 7 8 9 . / * - + enter = , left right up down pageup pagedown home end insert delete".split(
  " ",
);
/** With Ctrl, these are other keys in the legacy form, and so in every form. */
const ctrlKeys = table("h:backspace i:tab m:enter [:escape");
/** Super, Hyper and Meta: keys of the window system. */
const FOREIGN = 8 | 16 | 32;

/** A key or a text, or `null` for what means nothing to an application. */
export type KeyPress = { type: "key"; key: string } | { type: "text"; text: string } | null;

/** `on` is the name of a key, or the one character on it. */
export function keyPress(on: string, { ctrl = false, alt = false, shift = false }: Modifiers): KeyPress {
  const named = on.length > 1 && !/^.$/u.test(on);
  if (!ctrl && !alt && on === "space") return { type: "text", text: " " };
  if (!ctrl && !alt && !named) return { type: "text", text: on };
  if (ctrl && ctrlKeys[on]) return keyPress(ctrlKeys[on], { alt, shift });
  // Ctrl and / or - or @ write the control characters of _ and of space.
  if (ctrl && (on === "/" || (on === "-" && shift))) return keyPress("_", { ctrl, alt });
  if (ctrl && on === "@") return keyPress("space", { ctrl, alt });
  const small = named ? on : on.toLowerCase();
  // A sign that needs Shift on one keyboard does not on another.
  const shifted = named ? shift && on !== "backspace" : small !== on || (shift && /\p{L}/u.test(on));
  return { type: "key", key: `${ctrl ? "ctrl-" : ""}${alt ? "alt-" : ""}${shifted ? "shift-" : ""}${small}` };
}

/** The key of one character that was sent as it is: a letter, or a control character. */
export function charKey(char: string, { alt = false }: Modifiers = {}): KeyPress {
  const code = char.codePointAt(0)!;
  if (codes[code]) return keyPress(codes[code], { alt });
  if (code === 0) return keyPress("space", { ctrl: true, alt });
  if (code < 0x20) return keyPress(String.fromCharCode(code + 0x40).toLowerCase(), { ctrl: true, alt });
  if (code > 0x7f && code < 0xa0) return null;
  return keyPress(char, { alt });
}

/** `CSI parameters final`. */
export function csiKey(parameters: string, final: string): KeyPress {
  const [first = [], second = [], third = []] = parameters.split(";").map((field) => field.split(":").map(Number));
  const RELEASED = 3;
  if (second[1] === RELEASED) return null;
  const modifiers = modifiersOf(second[0]);
  if (!modifiers) return null;
  if (final === "u") return codeKey(first, modifiers);
  if (final === "~" && first[0] === 27) return codeKey(third, modifiers);
  if (final === "Z") return keyPress("tab", { ...modifiers, shift: true });
  if (arrows[final]) return keyPress(arrows[final], { shift: true });
  if (final === "^" || final === "@") return named(numbers[first[0]!], { ctrl: true, shift: final === "@" });
  return named(final === "~" ? numbers[first[0]!] : letters[final], modifiers);
}

/** `ESC O final`: keys of the application mode. `undefined` if it is none of them. */
export function ss3Key(final: string): KeyPress | undefined {
  if (arrows[final]) return keyPress(arrows[final], { ctrl: true });
  if (letters[final]) return keyPress(letters[final], {});
  const sign = "jklmnopqrstuvwxy".indexOf(final);
  return sign < 0 ? undefined : keyPress("*+,-./0123456789"[sign]!, {});
}

const named = (name: string | undefined, modifiers: Modifiers): KeyPress => (name ? keyPress(name, modifiers) : null);

function modifiersOf(field: number | undefined): Modifiers | null {
  const bits = Math.max((field || 1) - 1, 0);
  if (bits & FOREIGN) return null;
  return { shift: (bits & 1) > 0, alt: (bits & 2) > 0, ctrl: (bits & 4) > 0 };
}

/** A code point, and those of the same key with Shift and on a Latin keyboard, by which Ctrl-C works with every alphabet. */
function codeKey([code = 0, withShift, latin]: readonly number[], modifiers: Modifiers): KeyPress {
  if (codes[code]) return keyPress(codes[code], modifiers);
  const onPad = pad[code - PAD];
  if (onPad) return keyPress(onPad, modifiers);
  const isPrivate = code >= 0xe000 && code <= 0xf8ff;
  if (!(code > 0x20 && code <= 0x10ffff) || isPrivate || (code >= 0x7f && code < 0xa0)) return null;
  const control = modifiers.ctrl || modifiers.alt;
  const { shift } = modifiers;
  if (control && latin && code > 0x7f) return keyPress(String.fromCodePoint(latin), modifiers);
  const char = String.fromCodePoint(code);
  if (shift && withShift) return keyPress(String.fromCodePoint(withShift), modifiers);
  return keyPress(shift && !control ? char.toUpperCase() : char, modifiers);
}
