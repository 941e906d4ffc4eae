import { randomUUID } from "node:crypto";
import {
  RequestError,
  type AgentContext,
  type ContentBlock,
  type PromptResponse,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import type { EndReason, HarnessEvent, Session } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import { chooseModel } from "../models/choice.ts";
import { offeredModels } from "../models/offered-models.ts";
import { withSavedKeys } from "../setup/key-files.ts";
import type { Project } from "../setup/project.ts";
import { foldUpdates, newAcpState, type AcpState } from "./acp-fold.ts";
import { inputOfPrompt } from "./acp-prompt.ts";
import { AcpQuestions, questionText } from "./acp-questions.ts";

interface AcpSessionPorts {
  client: AgentContext;
  project: Project;
  session: Session;
  hasForms: boolean;
  failed(error: unknown): void;
}

/** A prompt that is not answered yet. */
interface OpenPrompt {
  inputId: string;
  turnId: string | null;
  answer: PromiseWithResolvers<PromptResponse>;
}

const STOP_REASONS: Record<Exclude<EndReason, "error">, StopReason> = {
  complete: "end_turn",
  declined: "end_turn",
  aborted: "cancelled",
  max_steps: "max_turn_requests",
  budget: "max_turn_requests",
};

/** A thread in an editor. Its updates, and the answers to prompts after them, are sent in the order of the events. */
export class AcpSession {
  readonly #ports: AcpSessionPorts;
  readonly #questions: AcpQuestions;
  readonly #closed = new AbortController();
  #state: AcpState;
  #prompts: OpenPrompt[] = [];
  #lastError = "The turn has failed.";
  /** The question that the editor was shown as text. */
  #typed: string | null = null;
  #following: Promise<void> | undefined;

  private constructor(ports: AcpSessionPorts, window: number) {
    this.#ports = ports;
    const { client, session, hasForms, failed, project } = ports;
    const { folder: root } = project;
    this.#questions = new AcpQuestions({ client, session, root, hasForms, failed });
    this.#state = newAcpState({ root, window });
  }

  /** `replays`: first sends the whole conversation. */
  static async open(ports: AcpSessionPorts, { replays }: { replays: boolean }): Promise<AcpSession> {
    const { window } = await ports.session.explainContext().catch(() => ({ window: 0 }));
    const opened = new AcpSession(ports, window);
    const since = replays ? await opened.#replay() : ports.session.getDisplayState().seq;
    opened.#following = opened.#follow(since).catch((error: unknown) => ports.failed(error));
    return opened;
  }

  get id(): string {
    return this.#ports.session.getCurrentThreadId()!;
  }

  async modes(): Promise<SessionModeState> {
    const { session } = this.#ports;
    const modes = await session.listModes();
    const availableModes = modes.map(({ id, name }) => ({ id, name: name ?? id }));
    return { currentModeId: session.getCurrentModeId(), availableModes };
  }

  options(): SessionConfigOption[] {
    const { session, project } = this.#ports;
    const modelId = session.getCurrentModelId();
    const ids = new Set([modelId, ...offeredModels(project)]);
    const models = Array.from(ids, (value) => ({ value, name: value }));
    const { yolo } = session.getDisplayState();
    return [
      { type: "select", id: "model", name: "Model", category: "model", currentValue: modelId, options: models },
      {
        type: "select",
        id: "yolo",
        name: "YOLO",
        description: "Nothing asks. What is denied stays denied.",
        currentValue: yolo ? "on" : "off",
        options: ["off", "on"].map((value) => ({ value, name: value })),
      },
    ];
  }

  async setOption(configId: string, value: unknown): Promise<void> {
    const { session, project } = this.#ports;
    if (configId === "yolo") return session.setState({ yolo: value === "on" || value === true });
    if (configId !== "model" || typeof value !== "string")
      throw RequestError.invalidParams(undefined, `There is no option "${configId}" with this value.`);
    try {
      if (value !== project.model.id) chooseModel(value, withSavedKeys(project.env));
    } catch (error) {
      throw RequestError.invalidParams(undefined, messageOf(error));
    }
    await session.switchModel({ modelId: value, scope: "thread" });
  }

  setMode(modeId: string): Promise<void> {
    return this.#ports.session.switchMode({ modeId });
  }

  /** Sends a message, steers the running turn, or answers a question that can only be typed. Settles when the turn ends. */
  async prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const { session } = this.#ports;
    const input = inputOfPrompt(blocks);
    const display = session.getDisplayState();
    const question = this.#questions.typedQuestion(display);
    const inputId = randomUUID();
    const prompt = {
      inputId,
      turnId: question ? display.turnId : null,
      answer: Promise.withResolvers<PromptResponse>(),
    };
    this.#prompts.push(prompt);
    this.#state = { ...this.#state, ownInputs: [...this.#state.ownInputs.slice(-100), inputId] };
    try {
      if (question) {
        const { toolCallId, threadId, seq } = question;
        await session.respondToToolSuspension({ toolCallId, threadId, seq, resumeData: input.content });
      } else {
        const delivery = display.turnId === null ? "send" : "steer";
        await session.post({ ...input, id: inputId, delivery });
        if (display.status === "parked") await session.resume();
      }
    } catch (error) {
      this.#prompts = this.#prompts.filter((one) => one !== prompt);
      throw error;
    }
    return prompt.answer.promise;
  }

  cancel(): Promise<void> {
    return this.#ports.session.abort({ inbox: true });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#questions.close();
    this.#end(this.#prompts, "cancelled");
    await this.#ports.session.close();
    await this.#following;
  }

  async #replay(): Promise<number> {
    const { session } = this.#ports;
    let after = 0;
    for (;;) {
      const page = await session.listEvents({ after, limit: 500 });
      const last = page.at(-1);
      if (!last) return after;
      for (const event of page) await this.#show(event as HarnessEvent);
      after = last.seq;
    }
  }

  async #follow(since: number): Promise<void> {
    const { session } = this.#ports;
    await this.#ask();
    for await (const event of session.events({ since, signal: this.#closed.signal })) {
      await this.#show(event);
      if (event.type === "display_state_changed") await this.#ask();
      this.#settle(event);
    }
  }

  async #show(event: HarnessEvent): Promise<void> {
    const [state, updates] = foldUpdates(this.#state, event);
    this.#state = state;
    for (const update of updates) await this.#send(update);
    if (["model_changed", "mode_changed", "state_changed"].includes(event.type) && this.#following)
      await this.#send({ sessionUpdate: "config_option_update", configOptions: this.options() });
  }

  async #send(update: SessionUpdate): Promise<void> {
    if (this.#closed.signal.aborted) return;
    await this.#ports.client.notify("session/update", { sessionId: this.id, update });
  }

  /** Asks what waits. A question that can only be typed ends the prompt, and the next prompt answers it. */
  async #ask(): Promise<void> {
    const display = this.#ports.session.getDisplayState();
    this.#questions.update(display);
    const question = this.#questions.typedQuestion(display);
    if (!question) return;
    const id = `${question.threadId}:${question.toolCallId}.${question.seq}`;
    if (this.#typed === id) return;
    this.#typed = id;
    const content = { type: "text" as const, text: questionText(question) };
    await this.#send({ sessionUpdate: "agent_message_chunk", content, messageId: id });
    if (display.status === "waiting") this.#end(this.#prompts, "end_turn");
  }

  #settle(event: HarnessEvent): void {
    if (event.type === "error") this.#lastError = event.message;
    if (event.type === "input_taken")
      this.#prompts = this.#prompts.map((one) =>
        one.inputId === event.inputId ? { ...one, turnId: event.turnId ?? null } : one,
      );
    if (event.type === "thread_deleted") this.#end(this.#prompts, "cancelled");
    if (event.type !== "agent_end") return;
    const isOver = ({ turnId }: OpenPrompt) => turnId === event.turnId || event.reason === "aborted";
    const over = this.#prompts.filter(isOver);
    if (event.reason !== "error") return this.#end(over, STOP_REASONS[event.reason]);
    this.#prompts = this.#prompts.filter((one) => !over.includes(one));
    for (const { answer } of over) answer.reject(RequestError.internalError(undefined, this.#lastError));
  }

  #end(prompts: readonly OpenPrompt[], stopReason: StopReason): void {
    this.#prompts = this.#prompts.filter((one) => !prompts.includes(one));
    for (const { answer } of prompts) answer.resolve({ stopReason });
  }
}
