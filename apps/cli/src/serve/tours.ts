import { createServer, ROLES, type Authenticate, type CinchServer, type ServerOptions } from "@cinch/server";
import type { Env } from "../models/providers.ts";
import type { Project } from "../setup/project.ts";
import { openTourProject, READABLE_MS } from "../tour/open-tour-project.ts";
import { TourFolder } from "../tour/tour-folder.ts";

/** Each is a folder and a harness. One more closes the oldest. */
const MOST = 4;
const MOST_LEFT = 100;
const ID = /^\/tour\/([\w-]{16,64})(\/|$)/;

interface ToursOptions extends Required<Pick<ServerOptions, "authenticate" | "hosts" | "log">> {
  env: Env;
  /** How long the model of the tour takes for a word. */
  delayMs?: number;
}

interface Tour {
  folder: TourFolder;
  project: Project;
  server: CinchServer;
}

/**
 * The tours of people at the page, each below `/tour/ID` on a throw-away project of its own. The browser chooses the id: the first request
 * of a caller who may do everything opens the tour, and `DELETE /tour/ID` removes it for good: a request of the page that arrives after it
 * opens no other.
 */
export class Tours {
  readonly #options: ToursOptions;
  readonly #tours = new Map<string, Promise<Tour>>();
  /** The ids of the newest tours that were left. */
  readonly #left = new Set<string>();

  constructor(options: ToursOptions) {
    this.#options = options;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const id = ID.exec(new URL(request.url).pathname)?.[1];
    // A tour runs commands, so it is not for a caller who may only read.
    const who = await this.#authenticate(request);
    if (!who) return refused(401, "UNAUTHENTICATED", "Send a token that this server knows: `Authorization: Bearer …`.");
    if (id === undefined || this.#left.has(id) || !ROLES.every((role) => who.may.includes(role)))
      return refused(404, "NOT_FOUND", "There is no tour here for you.");
    if (request.method === "DELETE" && !request.url.includes("/v1")) {
      this.#left.add(id);
      const [oldest] = this.#left;
      if (this.#left.size > MOST_LEFT) this.#left.delete(oldest!);
      await this.#remove(id);
      return new Response(null, { status: 204, headers: PROTOCOL });
    }
    return (await this.#tour(id)).server.fetch(request);
  };

  async close(): Promise<void> {
    await Promise.all([...this.#tours.keys()].map((id) => this.#remove(id)));
  }

  get #authenticate(): Authenticate {
    return this.#options.authenticate;
  }

  #tour(id: string): Promise<Tour> {
    const known = this.#tours.get(id);
    if (known) return known;
    const opening = this.#open();
    this.#tours.set(id, opening);
    opening.catch(() => this.#tours.delete(id));
    const [oldest] = this.#tours.keys();
    if (this.#tours.size > MOST) this.#remove(oldest!).catch(() => undefined);
    return opening;
  }

  async #open(): Promise<Tour> {
    const { env, delayMs = READABLE_MS, ...access } = this.#options;
    const folder = new TourFolder();
    try {
      const project = await openTourProject(folder, { env, delayMs });
      return { folder, project, server: createServer({ harness: project.harness, ...access }) };
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  async #remove(id: string): Promise<void> {
    const opened = this.#tours.get(id);
    this.#tours.delete(id);
    const tour = await opened?.catch(() => undefined);
    if (!tour) return;
    await Promise.all([tour.server.close({ drainMs: 0 }), tour.project.close()]);
    tour.folder[Symbol.dispose]();
  }
}

const PROTOCOL = { "cinch-protocol": "1" };

const refused = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message } }, { status, headers: PROTOCOL });
