import { HttpError } from "./http-error.ts";

const KEPT_MS = 600_000;
const MOST_KEPT = 10_000;

interface Kept {
  commandId: string;
  at: number;
  answer: Promise<SentAnswer>;
}

interface SentAnswer {
  status: number;
  headers: [name: string, value: string][];
  text: string | null;
}

/**
 * The answers of this process to commands with an `Idempotency-Key`: a command that is sent again gets the answer of the first. That it
 * does not happen twice, whichever process gets it, is up to its thread.
 */
export class IdempotentAnswers {
  readonly #kept = new Map<string, Kept>();

  /** `key` names the caller and the route too. Throws 400 if it was used for another command: for another body. */
  async of(key: string, commandId: string, work: () => Promise<Response>): Promise<Response> {
    this.#forgetOld();
    const known = this.#kept.get(key);
    if (known && known.commandId !== commandId)
      throw new HttpError(400, "INVALID_INPUT", "This Idempotency-Key was used for another body. Choose a new one.", {
        field: "Idempotency-Key",
      });
    const kept = known ?? { commandId, at: Date.now(), answer: sent(work()) };
    this.#kept.set(key, kept);
    try {
      const { status, headers, text: answered } = await kept.answer;
      return new Response(answered, { status, headers });
    } catch (error) {
      // A command that failed may be sent again.
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
      throw error;
    }
  }

  #forgetOld(): void {
    for (const [key, { at }] of this.#kept) {
      if (this.#kept.size < MOST_KEPT && Date.now() - at < KEPT_MS) return;
      this.#kept.delete(key);
    }
  }
}

async function sent(answer: Promise<Response>): Promise<SentAnswer> {
  const response = await answer;
  const text = response.body === null ? null : await response.text();
  return { status: response.status, headers: [...response.headers], text };
}
