import {
  agent,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type AgentContext,
  type InitializeResponse,
} from "@agentclientprotocol/sdk";
import { CinchError, type Session } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import { UsageError } from "../exit.ts";
import type { Project } from "../setup/project.ts";
import { version } from "../version.ts";
import { AcpSession } from "./acp-session.ts";

export interface AcpAgentPorts {
  /** Opens the project of a folder, once for each. */
  project(folder: string): Promise<Project>;
  projects(): Promise<readonly Project[]>;
  /** What the editor is not told about. */
  failed(error: unknown): void;
}

const LISTED = 50;

const INITIALIZED: Omit<InitializeResponse, "agentInfo"> = {
  protocolVersion: PROTOCOL_VERSION,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
  },
  authMethods: [],
};

/** The coding agent for editors that speak ACP. A session of the protocol is a thread. */
export class AcpAgent {
  readonly #ports: AcpAgentPorts;
  readonly #sessions = new Map<string, AcpSession>();
  #hasForms = false;

  constructor(ports: AcpAgentPorts) {
    this.#ports = ports;
  }

  app(): AgentApp {
    return agent({ name: "cinch" })
      .onRequest("initialize", ({ params }) => {
        this.#hasForms = params.clientCapabilities?.elicitation?.form != null;
        return { ...INITIALIZED, agentInfo: { name: "cinch", title: "Cinch", version: version() } };
      })
      .onRequest("session/new", ({ params, client }) =>
        answered(async () => {
          const project = await this.#ports.project(params.cwd);
          const session = await project.harness.createSession();
          await session.createThread();
          const opened = await this.#open({ project, session, client, replays: false });
          return { sessionId: opened.id, ...(await described(opened)) };
        }),
      )
      .onRequest("session/load", ({ params, client }) =>
        answered(async () => described(await this.#enter({ ...params, client, replays: true }))),
      )
      .onRequest("session/resume", ({ params, client }) =>
        answered(async () => described(await this.#enter({ ...params, client, replays: false }))),
      )
      .onRequest("session/list", ({ params }) => answered(() => this.#list(params)))
      .onRequest("session/close", ({ params }) => answered(() => this.#close(params.sessionId)))
      .onRequest("session/delete", ({ params }) => answered(() => this.#delete(params.sessionId)))
      .onRequest("session/prompt", ({ params }) => answered(() => this.#at(params.sessionId).prompt(params.prompt)))
      .onRequest("session/set_mode", ({ params }) =>
        answered(async () => {
          await this.#at(params.sessionId).setMode(params.modeId);
          return {};
        }),
      )
      .onRequest("session/set_config_option", ({ params }) =>
        answered(async () => {
          const session = this.#at(params.sessionId);
          await session.setOption(params.configId, params.value);
          return { configOptions: session.options() };
        }),
      )
      .onNotification("session/cancel", ({ params }) =>
        answered(() => this.#at(params.sessionId).cancel()).catch((error: unknown) => this.#ports.failed(error)),
      );
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions.keys()].map((id) => this.#close(id)));
  }

  #at(sessionId: string): AcpSession {
    const session = this.#sessions.get(sessionId);
    if (session) return session;
    throw RequestError.invalidParams({ sessionId }, "This session is not open. Load it first.");
  }

  async #enter(where: { sessionId: string; cwd: string; client: AgentContext; replays: boolean }): Promise<AcpSession> {
    const { sessionId: threadId, cwd, client, replays } = where;
    const project = await this.#ports.project(cwd);
    await this.#close(threadId);
    const session = await project.harness.createSession({ threadId });
    return this.#open({ project, session, client, replays });
  }

  async #open(opening: {
    project: Project;
    session: Session;
    client: AgentContext;
    replays: boolean;
  }): Promise<AcpSession> {
    const { replays, ...ports } = opening;
    const { failed } = this.#ports;
    const opened = await AcpSession.open({ ...ports, hasForms: this.#hasForms, failed }, { replays });
    this.#sessions.set(opened.id, opened);
    return opened;
  }

  async #list({ cwd, cursor }: { cwd?: string | null; cursor?: string | null }) {
    const projects = cwd == null ? await this.#ports.projects() : [await this.#ports.project(cwd)];
    const lists = await Promise.all(
      projects.map(async ({ harness, folder }) => {
        const session = await harness.createSession();
        const threads = await session.listThreads({ limit: LISTED, ...(cursor == null ? {} : { before: cursor }) });
        await session.close();
        return threads.map(({ id: sessionId, title, updatedAt }) => {
          return { sessionId, cwd: folder, title, updatedAt: new Date(updatedAt).toISOString() };
        });
      }),
    );
    const sessions = lists.flat();
    const nextCursor = projects.length === 1 && sessions.length === LISTED ? sessions.at(-1)!.sessionId : null;
    return { sessions, nextCursor };
  }

  async #close(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await session?.close();
  }

  async #delete(threadId: string): Promise<void> {
    await this.#close(threadId);
    for (const { harness, store } of await this.#ports.projects()) {
      if (!(await store.thread(threadId))) continue;
      const session = await harness.createSession();
      await session.deleteThread({ threadId });
      await session.close();
    }
  }
}

const described = async (session: AcpSession) => ({ modes: await session.modes(), configOptions: session.options() });

/** A mistake of the editor, or a folder that can't be opened, is explained to it. */
async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    const isMistake = error instanceof UsageError || error instanceof CinchError;
    const code = isMistake ? RequestError.invalidParams : RequestError.internalError;
    throw code(undefined, messageOf(error));
  }
}
