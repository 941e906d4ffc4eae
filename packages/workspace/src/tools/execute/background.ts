import type { WorkspaceHost } from "@cinch/core/workspace";
import type { CommandKey, Outputs } from "../../outputs/outputs.ts";
import { BackgroundCommand, type StartedCommand } from "./background-command.ts";

/** How many commands of one thread may run at once. */
export const MAX_RUNNING = 16;
/** How many commands that have ended are remembered. The output of the others is still in its file. */
const MAX_ENDED = 64;

/** A command that runs in the background, as a UI shows it. */
export interface RunningCommand {
  threadId: string;
  id: string;
  command: string;
  startedAt: number;
  /** What it has printed; of long output the beginning and the end. */
  output: string;
}

/** The commands that run in the background. Each is visible to the thread that started it. They end with the workspace. */
export class Background {
  readonly outputs: Outputs;
  #host: Pick<WorkspaceHost, "onThreadDeleted"> | undefined;
  readonly #commands = new Map<string, BackgroundCommand>();

  constructor(outputs: Outputs) {
    this.outputs = outputs;
  }

  open(host: Pick<WorkspaceHost, "onThreadDeleted">): void {
    this.#host = host;
  }

  /** Whether the thread may start another command. */
  hasRoom(threadId: string): boolean {
    const own = [...this.#commands.values()].filter((one) => one.threadId === threadId && !one.exit);
    return own.length < MAX_RUNNING;
  }

  add(key: CommandKey, { onEnd, ...started }: StartedCommand): void {
    // Without its thread, nothing could end the command. `stop` never rejects.
    const unsubscribe = this.#host?.onThreadDeleted(key.threadId, () => started.running.stop());
    const ended = async () => {
      unsubscribe?.();
      await onEnd();
    };
    this.#commands.set(mapKey(key), new BackgroundCommand(key, { ...started, onEnd: ended }));
    const over = [...this.#commands].filter(([, one]) => one.exit);
    for (const [name] of over.slice(0, Math.max(0, over.length - MAX_ENDED))) this.#commands.delete(name);
  }

  /** Ends all commands, or those of one thread. Settles when their output is saved. */
  async end(threadId?: string): Promise<void> {
    const all = [...this.#commands.values()].filter((one) => threadId === undefined || one.threadId === threadId);
    await Promise.all(all.map(({ running }) => running.stop()));
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** Those that have not ended, oldest first. */
  running(): RunningCommand[] {
    return [...this.#commands.values()]
      .filter(({ exit }) => exit === undefined)
      .map(({ threadId, id, command, startedAt, output }) => ({
        threadId,
        id,
        command,
        startedAt,
        output: output.since(0, { partial: true }).text,
      }));
  }

  /** Settles when the command has ended and its output is saved. */
  async stop(key: CommandKey): Promise<void> {
    const command = this.find(key);
    await command?.running.stop();
    await command?.ended;
  }

  find(key: CommandKey): BackgroundCommand | undefined {
    return this.#commands.get(mapKey(key));
  }
}

const mapKey = ({ threadId, id }: CommandKey): string => JSON.stringify([threadId, id]);
