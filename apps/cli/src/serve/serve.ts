import {
  bearerTokens,
  createServer,
  ROLES,
  tokenHash,
  type CinchServer,
  type LogLine,
  type TokenHolder,
} from "@cinch/server";
import { webPage } from "@cinch/web";
import type { ServeOptions } from "../cli-command.ts";
import { messageOf } from "../error-message.ts";
import { ExitCode, UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { offeredModels } from "../models/offered-models.ts";
import { envValue } from "../models/providers.ts";
import { openForRun } from "../run/open-for-run.ts";
import { Printer } from "../run/printer.ts";
import { plain } from "../terminal/sanitise.ts";
import { terminalJson } from "../terminal-json.ts";
import { addressesOf, isLoopback, hostNamesOf } from "./address.ts";
import { LiveTokens } from "./live-tokens.ts";
import { openBrowser } from "./open-browser.ts";
import { StopSignals } from "./stop-signals.ts";
import { Tours } from "./tours.ts";
import { randomToken, TokenFolder } from "./token-folder.ts";

/** So that an address can be kept. If it is taken, and the user named no other, any free one is used. */
const DEFAULT_PORT = 4664;
/** How long running tools may take when the server stops. */
const DRAIN_MS = 30_000;
const TOKEN = /^[\w.~+/-]{16,}=*$/;

/** `cinch serve`: the project of this folder on HTTP, until a signal comes. */
export async function serve(options: ServeOptions): Promise<number> {
  const { host, names, readOnly, flags, trust } = options;
  const printer = new Printer();
  const people = new TokenFolder({ folder: process.cwd(), env: process.env });
  const own = ownToken(options, { hasPeople: people.list().length > 0 });
  const may = readOnly ? (["read"] as const) : ROLES;
  const owner: TokenHolder[] = own === undefined ? [] : [{ sha256: tokenHash(own.token), may }];
  const project = await openForRun({ flags, trust, json: false, recover: "all" }, printer);
  using tokens = new LiveTokens({
    folder: people,
    most: may,
    failed: (error) => printer.note(`the tokens can't be read, so changes are not seen: ${plain(messageOf(error))}`),
  });
  const access = {
    authenticate: bearerTokens(() => [...owner, ...tokens.holders]),
    hosts: hostNamesOf(host, names),
    log: (line: LogLine) => {
      // A terminal shows what a person must know.
      if (!process.stderr.isTTY || line.level === "error") process.stderr.write(`${terminalJson(line)}\n`);
    },
  };
  const tours = new Tours({ ...access, env: process.env });
  const server = createServer({
    ...access,
    harness: project.harness,
    models: offeredModels(project),
    adapters: ["ai-sdk", "ag-ui"],
    page: webPage,
    mounts: { tour: tours.fetch },
  });
  using signals = new StopSignals();
  let drainMs = 0;
  try {
    const port = await listen(server, options);
    announce({ ...options, port, own }, printer);
    await signals.first;
    drainMs = DRAIN_MS;
    printer.note("closing: what runs has 30 s to end (another signal ends it at once)");
    return ExitCode.complete;
  } finally {
    await Promise.all([server.close({ drainMs }), tours.close(), project.harness.close({ drainMs })]);
  }
}

interface OwnToken {
  token: string;
  /** Made for this run, so the user must see it. */
  isNew: boolean;
}

/** The token of the user who serves. `undefined`: the people with tokens are enough. Throws `UsageError`. */
function ownToken(
  { host, token = envValue(process.env, "CINCH_TOKEN"), open }: ServeOptions,
  { hasPeople }: { hasPeople: boolean },
): OwnToken | undefined {
  if (token !== undefined && !TOKEN.test(token))
    throw new UsageError(
      'A token has at least 16 letters, digits, ".", "_", "~", "+", "/" or "-". Without one, a random one is made.',
    );
  if (token !== undefined) return { token, isNew: false };
  if (!hasPeople && !isLoopback(host))
    throw new UsageError(
      `${host} can be reached from other machines, and there is no token yet that would keep strangers out. Make one for each person: ${cinch} token add NAME --may read,talk,approve. Or set CINCH_TOKEN.`,
    );
  return hasPeople && !open ? undefined : { token: randomToken(), isNew: true };
}

/** Returns the port. */
async function listen(server: CinchServer, { host, port }: ServeOptions): Promise<number> {
  try {
    return (await server.listen({ host, port: port ?? DEFAULT_PORT })).port;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE" && port === undefined) return (await server.listen({ host, port: 0 })).port;
    const why = code === "EADDRINUSE" ? "another program listens there" : message;
    throw new UsageError(`${host} can't be listened on at port ${port ?? DEFAULT_PORT}: ${why}. Give another --port.`, {
      cause: error,
    });
  }
}

/** Only a token that was made here is printed: the user has the others. */
function announce(
  { host, port, own, open, readOnly }: ServeOptions & { port: number; own: OwnToken | undefined },
  printer: Printer,
): void {
  const fragment = own?.isNew ? `/#token=${own.token}` : "/";
  const [url = "", ...more] = addressesOf(host).map((address) => `http://${address}:${port}${fragment}`);
  for (const address of [url, ...more]) process.stdout.write(`${address}\n`);
  if (readOnly) printer.note("read-only: every token may only read");
  if (!isLoopback(host))
    printer.note("note: HTTP is not encrypted. Put a proxy with TLS in front of it: see docs/operations.md");
  if (!open) return;
  const shown = own && !own.isNew ? `${url}#token=${encodeURIComponent(own.token)}` : url;
  openBrowser(shown, () => printer.note("no browser could be opened: open the address yourself"));
}
