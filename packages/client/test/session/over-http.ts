import type { Harness, SessionOptions } from "@cinch/core";
import { connect, type Client } from "@cinch/client";
import { createServer, ROLES, type Who } from "@cinch/server";
import { underTest } from "../../../core/test/support.ts";

/** The token of a caller says who it is, so that a test chooses that as it chooses the options of a session. */
const tokenOf = ({ resourceId, by }: SessionOptions): string => btoa(JSON.stringify({ resourceId, by }));

function whoOf(request: Request): Who {
  const [, token = ""] = (request.headers.get("authorization") ?? "").split(" ");
  return { ...(JSON.parse(atob(token)) as Who), may: ROLES };
}

/** A client of a server of its own in front of the harness. Closing it closes all three. */
async function overHttp(harness: Harness): Promise<Harness> {
  const server = createServer({ harness, authenticate: whoOf, limits: { requestsPerSecond: 100_000 } });
  const { url } = await server.listen();
  const closes: (() => Promise<void>)[] = [];
  const clientOf = (options: SessionOptions): Client => {
    const client = connect({ url, token: tokenOf(options) });
    closes.push(client.close.bind(client));
    return client;
  };
  const client = clientOf({});
  await client.init();
  return Object.assign(client, {
    createSession: ({ threadId, ...seat }: SessionOptions = {}) =>
      clientOf(seat).createSession(threadId === undefined ? {} : { threadId }),
    followThreads: (seat: SessionOptions = {}) => clientOf(seat).followThreads(),
    pending: (seat: SessionOptions = {}) => clientOf(seat).pending(),
    close: async () => {
      for (const close of closes) await close();
      await server.close({ drainMs: 100 });
      await harness.close();
    },
  }) as unknown as Harness;
}

/**
 * Runs tests of `packages/core/test` a second time, with sessions of a server. They are those about what a session promises: its commands,
 * queries, questions and events. Tests that can't run so say why themselves (`onlyHere`). Other files are about what is behind a
 * session: crashes and stores (`thread/leaving`, `recover`, `fold-cache` …), the steps between two awaits (`thread/seats`), the calls of the driver (`turn/…`), the texts of errors,
 * which a server words for the field of a request (`config/errors`, `commands/options`), and subagents, whose tests build their own
 * harness.
 */
export async function runOverHttp(files: readonly string[]): Promise<void> {
  Object.assign(underTest, { isRemote: true, face: overHttp });
  for (const file of files) await import(`../../../core/test/${file}.test.ts`);
}
