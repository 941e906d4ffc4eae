import { createEndpointHandler } from "@restatedev/restate-sdk";
import type { DriveOutcome, Placement } from "@cinch/core";
import { driveService } from "./drive-service.ts";
import { JsonPoster } from "./json-poster.ts";
import { resolve, type Resolved, type RestateOptions } from "./options.ts";
import { Registration } from "./registration.ts";
import { WorkerServer } from "./worker-server.ts";

/** A wake that takes longer is too late: by then, workers have found the thread in the store. */
const WAKE_MS = 5_000;
const NOT_FOUND = 404;

/** Brings wakes to workers as invocations of a Restate service. */
export function restatePlacement(options: RestateOptions): Placement {
  return new RestatePlacement(resolve(options));
}

class RestatePlacement implements Placement {
  readonly #options: Resolved;
  readonly #service: string;
  readonly #poster = new JsonPoster();
  readonly #registration: Registration | undefined;
  #server: WorkerServer | undefined;
  #isDraining = false;

  constructor(options: Resolved) {
    this.#options = options;
    this.#service = serviceOf(options.advertise);
    const { admin, advertise } = options;
    if (admin) this.#registration = new Registration(this.#poster, { admin, advertise });
  }

  async serve(drive: (threadId: string) => Promise<DriveOutcome>): Promise<void> {
    const { port, identity } = this.#options;
    const handler = createEndpointHandler({
      services: [
        driveService(this.#service, {
          // A request on a connection that was open before the drain.
          drive: async (threadId) => (this.#isDraining ? "busy" : drive(threadId)),
          wakeAgain: (threadId) => this.wake(threadId),
        }),
      ],
      bidirectional: false,
      logger: () => undefined,
      ...(identity.length > 0 && { identityKeys: identity }),
    });
    // Without a key any process could ask for drives, so only those of this machine can.
    const host = identity.length > 0 ? undefined : "127.0.0.1";
    this.#server = await WorkerServer.listening(handler, { port, host });
    await this.#registration?.keepTrying();
  }

  async wake(threadId: string): Promise<void> {
    const first = await this.#send(threadId);
    // Restate has lost its data, or is new.
    const isRegistered = first === NOT_FOUND && (await this.#registration?.once());
    const status = isRegistered ? await this.#send(threadId) : first;
    if (status >= 200 && status < 300) return;
    const { href } = this.#options.advertise;
    const unknown = `it has no service "${this.#service}". Give restatePlacement an \`admin\`, or register ${href}`;
    throw new Error(`Restate took no wake: ${status === NOT_FOUND ? unknown : `it answered with status ${status}`}.`);
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#server?.drain();
  }

  async close(): Promise<void> {
    this.#isDraining = true;
    this.#server?.close();
    // Ends an attempt to register, too.
    this.#poster.close();
    await this.#registration?.close();
  }

  async #send(threadId: string): Promise<number> {
    const { ingress } = this.#options;
    const url = new URL(`${ingress.pathname.replace(/\/$/, "")}/${this.#service}/drive/send`, ingress);
    try {
      return await this.#poster.post(url, { threadId }, { timeoutMs: WAKE_MS });
    } catch (cause) {
      throw new Error(`Restate took no wake: ${ingress.host} does not answer.`, { cause });
    }
  }
}

/** Programs with other workers have another service, so that they can share a Restate. */
const serviceOf = ({ host, pathname }: URL): string =>
  `cinch-${`${host}${pathname}`.replaceAll(/[^A-Za-z0-9.]+/g, "-").replace(/-$/, "")}`;
