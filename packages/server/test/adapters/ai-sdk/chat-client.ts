import * as sdk6 from "ai6";
import * as sdk7 from "ai";

/** A part of a UI message, of either version. */
export type AnyPart = { type: string } & Record<string, unknown>;

export interface AnyMessage {
  id: string;
  role: string;
  parts: AnyPart[];
  metadata?: unknown;
}

export type ChatStatus = "ready" | "submitted" | "streaming" | "error";

/** What `useChat` gives a page, as far as the tests use it. */
export interface ChatClient {
  messages: AnyMessage[];
  status: ChatStatus;
  error: Error | undefined;
  sendMessage(message?: {
    text: string;
    files?: { type: "file"; mediaType: string; url: string; filename?: string }[];
    messageId?: string;
  }): Promise<void>;
  regenerate(options?: { messageId?: string }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
  addToolApprovalResponse(answer: { id: string; approved: boolean; reason?: string }): Promise<void>;
  addToolOutput(answer: { tool: string; toolCallId: string; output: unknown }): Promise<void>;
}

/** The state of a chat, as the hooks of the SDK keep it. */
class ChatState {
  status: ChatStatus = "ready";
  error: Error | undefined = undefined;
  messages: AnyMessage[];

  constructor(messages: AnyMessage[]) {
    this.messages = messages;
  }

  readonly pushMessage = (message: AnyMessage): void => {
    this.messages = [...this.messages, message];
  };
  readonly popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  readonly replaceMessage = (index: number, message: AnyMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  readonly snapshot = <T>(value: T): T => structuredClone(value);
}

export interface ChatOptions {
  url: string;
  id: string;
  messages?: AnyMessage[];
  onData?: (part: AnyPart) => void;
  token?: string;
}

type Sdk = {
  AbstractChat: abstract new (init: object) => object;
  DefaultChatTransport: new (options: object) => object;
  lastAssistantMessageIsCompleteWithApprovalResponses(options: { messages: never }): boolean;
  lastAssistantMessageIsCompleteWithToolCalls(options: { messages: never }): boolean;
};

/** A chat with the client of the SDK as it is: its transport and its rules for sending by itself. */
function chatOf(sdk: Sdk, api: string, { url, id, messages = [], onData, token }: ChatOptions): ChatClient {
  class Chat extends sdk.AbstractChat {}
  const headers = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  return new Chat({
    id,
    state: new ChatState(messages),
    transport: new sdk.DefaultChatTransport({ api: `${url}${api}`, ...headers }),
    sendAutomaticallyWhen: (options: { messages: never }) =>
      sdk.lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
      sdk.lastAssistantMessageIsCompleteWithToolCalls(options),
    ...(onData ? { onData } : {}),
  }) as unknown as ChatClient;
}

/** The clients of both versions, as a page would set them up. */
export const CLIENTS = [
  {
    version: 6,
    chat: (options: ChatOptions) => chatOf(sdk6 as unknown as Sdk, "/v1/chat", options),
    chunkSchema: sdk6.uiMessageChunkSchema,
    readMessages: sdk6.readUIMessageStream as unknown as typeof sdk7.readUIMessageStream,
  },
  {
    version: 7,
    chat: (options: ChatOptions) => chatOf(sdk7 as unknown as Sdk, "/v1/chat?v=7", options),
    chunkSchema: sdk7.uiMessageChunkSchema,
    readMessages: sdk7.readUIMessageStream,
  },
] as const;

/** Waits until the client shows it. */
export async function until(isShown: () => boolean): Promise<void> {
  const late = Date.now() + 300_000;
  while (!isShown()) {
    if (Date.now() > late) throw new Error(`Not after five minutes: ${String(isShown)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const textOfMessage = ({ parts }: AnyMessage): string =>
  parts.map((part) => (part.type === "text" ? String(part["text"]) : "")).join("");

export const toolsOf = ({ parts }: AnyMessage): AnyPart[] => parts.filter(({ type }) => type === "dynamic-tool");
