/** A thread of the chat, in a channel. */
export interface Place {
  channel: string;
  thread: string;
}

export interface ChatMessage extends Place {
  /** Stays the same if the service delivers the message again. */
  id: string;
  user: string;
  text: string;
}

/** `value` comes back when a person presses the button. */
export interface Button {
  label: string;
  value: Record<string, string>;
}

export interface Press extends Place {
  user: string;
  value: Record<string, string>;
}

/** Receives the messages and button presses of people. */
export interface Receiver {
  message(message: ChatMessage): Promise<void>;
  press(press: Press): Promise<void>;
}

/** Simulates the chat service and its users: prints the messages, and remembers the buttons. */
export class Chat {
  receiver: Receiver | undefined;
  readonly #buttons = new Map<string, Button>();
  readonly #posts: string[] = [];
  #next = Promise.withResolvers<void>();

  /** Called by the bot. */
  post({ channel, thread }: Place, text: string, buttons: readonly Button[] = []): void {
    const shown = buttons.map(({ label }) => ` [${label}]`).join("");
    console.log(`#${channel} ${thread} bot: ${text}${shown}`);
    for (const button of buttons) this.#buttons.set(`${channel} ${thread} ${button.label}`, button);
    this.#posts.push(text);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  whisper({ channel, thread }: Place, user: string, text: string): void {
    console.log(`#${channel} ${thread} bot, to ${user} only: ${text}`);
  }

  /** Called for people. */
  async say(message: ChatMessage): Promise<void> {
    console.log(`#${message.channel} ${message.thread} ${message.user}: ${message.text}`);
    await this.receiver?.message(message);
  }

  async press(user: string, place: Place, label: string): Promise<void> {
    console.log(`#${place.channel} ${place.thread} ${user} presses [${label}]`);
    const { value } = this.#buttons.get(`${place.channel} ${place.thread} ${label}`)!;
    await this.receiver?.press({ ...place, user, value });
  }

  /** Settles when the bot has posted this text. */
  async posted(text: string): Promise<void> {
    while (!this.#posts.some((post) => post.includes(text))) await this.#next.promise;
  }
}
