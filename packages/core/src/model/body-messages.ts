import type { Body } from "../folds/transcript.ts";
import { entryMessage, type BodyMessage, type LoadBlob } from "./entry-message.ts";

/** The messages of a body, for one provider. `messages` may go on with those of a longer body: the first `length` are this one's. */
interface Converted {
  by: string;
  messages: BodyMessage[];
  length: number;
  ids: CallIds;
}

const converted = new WeakMap<Body, Converted>();

/**
 * The messages of a body, with call ids that are unique in it. A body that continues one which was converted before costs what it adds.
 * `by`: the provider that gets them.
 */
export async function bodyMessages(body: Body | null, by: string, loadBlob: LoadBlob): Promise<readonly BodyMessage[]> {
  if (!body) return [];
  const added: Body[] = [];
  let node: Body | null = body;
  while (node && converted.get(node)?.by !== by) {
    added.push(node);
    node = node.before;
  }
  const messages: BodyMessage[] = [];
  for (const { entry } of added.toReversed()) messages.push(await entryMessage(entry, by, loadBlob));
  const all = continued(node && converted.get(node), by);
  for (const message of messages) if (message.content.length > 0) all.messages.push(all.ids.renamed(message));
  converted.set(body, { ...all, length: all.messages.length });
  return all.messages.slice();
}

/** The same messages, to be added to. If another body has added to them already, a copy. */
function continued(known: Converted | null | undefined, by: string): Converted {
  if (!known) return { by, messages: [], length: 0, ids: new CallIds() };
  if (known.messages.length === known.length) return known;
  const ids = new CallIds();
  const messages = known.messages.slice(0, known.length);
  // The ids are unique already, so none is renamed again.
  for (const message of messages) ids.renamed(message);
  return { by, messages, length: known.length, ids };
}

/** Call ids are unique within one answer only. Providers require unique ids in a whole request. */
class CallIds {
  readonly #used = new Set<string>();
  /** By id, the suffix to try next: without it, a model that always uses "call_0" would cost quadratic time. */
  readonly #next = new Map<string, number>();
  /** Of the newest answer: by call id, the id in the prompt where it differs. */
  #names: ReadonlyMap<string, string> = new Map();

  /** Must be called for the messages in order. */
  renamed(message: BodyMessage): BodyMessage {
    if (message.role === "assistant") this.#names = this.#newNames(message.content);
    const names = this.#names;
    if (names.size === 0 || message.role === "user") return message;
    const content = message.content.map((part) =>
      "toolCallId" in part ? { ...part, toolCallId: names.get(part.toolCallId) ?? part.toolCallId } : part,
    );
    return { ...message, content } as BodyMessage;
  }

  #newNames(parts: readonly AssistantPart[]): Map<string, string> {
    const names = new Map<string, string>();
    for (const part of parts) {
      if (part.type !== "tool-call" || part.providerExecuted) continue;
      const { toolCallId: id } = part;
      const name = this.#unique(id);
      if (name !== id) names.set(id, name);
    }
    return names;
  }

  #unique(id: string): string {
    let name = id;
    let n = this.#next.get(id) ?? 2;
    for (; this.#used.has(name); n++) name = `${id.slice(0, 56)}_${n}`;
    if (name !== id) this.#next.set(id, n);
    this.#used.add(name);
    return name;
  }
}

type AssistantPart = Extract<BodyMessage, { role: "assistant" }>["content"][number];
