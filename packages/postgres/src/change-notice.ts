import { hash } from "node:crypto";

/** What one process tells the others after a commit. Threads are named by a hash of their id: a follower may wait for one that does not exist yet. */
export type ChangeNotice =
  /** The only change is that the journal reaches at least `seq`. */
  | { kind: "appended"; key: number; seq: number }
  | { kind: "changed"; key: number }
  /** What lists show of a thread has changed, or it was created or deleted. */
  | { kind: "listed"; no: number };

const KEY_BYTES = 6;

/** With 32 bits, some follower among many would take the `seq` of another thread for its own, and be deaf until it is reached. */
export const noticeKey = (threadId: string): number => hash("sha256", threadId, "buffer").readUIntBE(0, KEY_BYTES);

/** The server accepts less than 8,000 bytes in one notice. */
const MAX_PAYLOAD = 7_900;
const MAX_WAITING = 50_000;

/** Collects notices until they can be sent. Of one thread, the newest `seq` is enough. */
export class Outbox {
  readonly #seqs = new Map<number, number>();
  readonly #others = new Set<string>();

  get isEmpty(): boolean {
    return this.#seqs.size === 0 && this.#others.size === 0;
  }

  add(notice: ChangeNotice): void {
    // Without a connection nothing can be sent. The others find out by themselves within a second.
    if (this.#seqs.size + this.#others.size > MAX_WAITING) this.#clear();
    if (notice.kind === "appended") this.#seqs.set(notice.key, Math.max(notice.seq, this.#seqs.get(notice.key) ?? 0));
    else this.#others.add(encodeNotice(notice));
  }

  /** The payloads, each with the number of the sender. Empties the box. */
  take(sender: number): string[] {
    const appended = Array.from(this.#seqs, ([key, seq]) => `a${text(key)}.${text(seq)}`);
    const payloads: string[] = [];
    let payload = text(sender);
    for (const token of [...appended, ...this.#others]) {
      if (payload.length + token.length + 1 > MAX_PAYLOAD) {
        payloads.push(payload);
        payload = text(sender);
      }
      payload += ` ${token}`;
    }
    this.#clear();
    return [...payloads, payload];
  }

  #clear(): void {
    this.#seqs.clear();
    this.#others.clear();
  }
}

/** Ignores what it does not know: a newer release may have sent it. */
export function noticesIn(payload: string): { sender: number; notices: ChangeNotice[] } {
  const [sender = "", ...tokens] = payload.split(" ");
  return { sender: number(sender), notices: tokens.flatMap(decodeNotice) };
}

const encodeNotice = (notice: Exclude<ChangeNotice, { kind: "appended" }>): string =>
  notice.kind === "changed" ? `c${text(notice.key)}` : `l${text(notice.no)}`;

function decodeNotice(token: string): ChangeNotice[] {
  const [first = "", second = ""] = token.slice(1).split(".");
  switch (token[0]) {
    case "a":
      return [{ kind: "appended", key: number(first), seq: number(second) }];
    case "c":
      return [{ kind: "changed", key: number(first) }];
    case "l":
      return [{ kind: "listed", no: number(first) }];
    default:
      return [];
  }
}

const text = (value: number): string => value.toString(36);
const number = (value: string): number => Number.parseInt(value, 36);
