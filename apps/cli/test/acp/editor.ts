import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import {
  client,
  ndJsonStream,
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { inherited, type Place } from "../cli.ts";
import { MAIN } from "../programs.ts";

type Asked<T> = { params: T; signal: AbortSignal; answer(response: unknown): void };

/** An editor that speaks ACP, with `cinch acp` as a child process. */
export class Editor {
  readonly updates: SessionUpdate[] = [];
  /** What the agent asks now. */
  readonly permissions: Asked<RequestPermissionRequest>[] = [];
  readonly forms: Asked<CreateElicitationRequest>[] = [];
  readonly connection: ClientConnection;
  readonly child: ChildProcess;
  #stderr = "";

  constructor(place: Place, args: readonly string[] = []) {
    this.child = spawn(process.execPath, [MAIN, "acp", ...args], {
      cwd: place.home,
      env: { ...inherited(), HOME: place.home, CINCH_OFFLINE_DELAY_MS: "0" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    const output = Writable.toWeb(this.child.stdin!) as WritableStream<Uint8Array>;
    const input = Readable.toWeb(this.child.stdout!) as ReadableStream<Uint8Array>;
    this.connection = client({ name: "editor" })
      .onNotification("session/update", ({ params }) => void this.updates.push(params.update))
      .onRequest("session/request_permission", ({ params, signal }) => asked(this.permissions, params, signal) as never)
      .onRequest("elicitation/create", ({ params, signal }) => asked(this.forms, params, signal) as never)
      .connect(ndJsonStream(output, input));
  }

  get agent() {
    return this.connection.agent;
  }

  get stderr(): string {
    return this.#stderr;
  }

  initialize(clientCapabilities: ClientCapabilities = {}) {
    return this.agent.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  prompt(sessionId: string, text: string) {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** What the agent has said. */
  get said(): string {
    return this.updates
      .map((update) =>
        update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
      )
      .join("");
  }

  async until(isReached: () => boolean): Promise<void> {
    const late = Date.now() + 300_000;
    while (!isReached()) {
      if (Date.now() > late) throw new Error(`Not after five minutes: ${String(isReached)}. stderr: ${this.#stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
    this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

function asked<T>(list: Asked<T>[], params: T, signal: AbortSignal): Promise<unknown> {
  return new Promise((answer) => list.push({ params, signal, answer }));
}
