import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { DriveOutcome, Placement } from "@cinch/core";
import { restatePlacement, type RestateOptions } from "@cinch/restate";
import { freePort } from "../../testkit/test/free-port.ts";
import { sharedRestate } from "./server.ts";

/** Placements of one test. They are closed at its end. */
export class TestEngine implements AsyncDisposable {
  readonly options: RestateOptions;
  readonly #made: Placement[] = [];

  private constructor(options: RestateOptions) {
    this.options = options;
  }

  static async make(options: Partial<RestateOptions> = {}): Promise<TestEngine> {
    const { ingress, admin, identity } = await sharedRestate();
    const advertise = `http://127.0.0.1:${await freePort()}`;
    return new TestEngine({ ingress, admin, identity, advertise, ...options });
  }

  get port(): number {
    return Number(new URL(this.options.advertise).port);
  }

  placement(options: Partial<RestateOptions> = {}): Placement {
    const placement = restatePlacement({ ...this.options, ...options });
    this.#made.push(placement);
    return placement;
  }

  async worker(
    drive: (threadId: string) => DriveOutcome | Promise<DriveOutcome>,
    options: Partial<RestateOptions> = {},
  ): Promise<Placement> {
    const placement = this.placement(options);
    await placement.serve(async (threadId) => drive(threadId));
    return placement;
  }

  /** How many invocations Restate has not completed, of workers that advertise this address. */
  async invocations(advertise = this.options.advertise): Promise<number> {
    const { hostname, port } = new URL(advertise);
    const query = `SELECT count(*) AS count FROM sys_invocation_status WHERE target_service_name = 'cinch-${hostname}-${port}' AND status <> 'completed'`;
    const response = await fetch(`${this.options.admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    const { rows } = (await response.json()) as { rows: { count: number }[] };
    return rows[0]!.count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#made.map((placement) => placement.close!()));
  }
}

/** A drive that counts. */
export class CountedDrive {
  drives = 0;
  readonly drive = (): DriveOutcome => {
    this.drives += 1;
    return "done";
  };
}

/** A TCP proxy, to which the advertised address may lead. */
export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Whether connections are accepted and then closed, or nothing is forwarded. */
  state: "up" | "down" | "silent" = "up";
  /** Connections that were made to it, in milliseconds of `performance.now()`. */
  readonly connections: number[] = [];

  private constructor(server: Server, port: number) {
    this.#server = server;
    server.on("connection", (client: Socket) => this.#connected(client, port));
  }

  static async to(port: number): Promise<CuttingProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new CuttingProxy(server, port);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
  }

  #connected(client: Socket, port: number): void {
    this.connections.push(performance.now());
    if (this.state === "down") return void client.destroy();
    const server = connect(port, "127.0.0.1");
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("data", (chunk) => this.state === "silent" || other.write(chunk));
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
