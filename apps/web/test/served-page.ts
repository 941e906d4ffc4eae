import { Agent, Harness, memoryStore, type HarnessConfig, type Store, type ToolSet } from "@cinch/core";
import { bearerTokens, createServer, ROLES, tokenHash, type CinchServer, type TokenHolder } from "@cinch/server";
import type { ScriptedModel } from "@cinch/testkit";
import { webPage } from "@cinch/web";
import type { BrowserContext, Page } from "playwright-core";

const page = webPage();

interface Options {
  model: ScriptedModel;
  tools?: ToolSet;
  storage?: Store;
  harness?: Partial<HarnessConfig>;
  port?: number;
  /** The names of this machine, if not those of loopback. */
  hosts?: readonly string[];
}

export const TOKEN = "page-token";
export const TOKEN_OF_BOB = "page-token-of-bob";
export const TOKEN_OF_READER = "page-token-of-a-reader";

/** The page on a real server, for a caller with a token. Both are closed at the end of the test. */
export async function servedPage(options: Options) {
  const { model, tools = {}, storage = memoryStore(), harness: config, port = 0, hosts } = options;
  const agent = new Agent({ name: "tester", model, instructions: "SECRET INSTRUCTIONS", tools });
  const modes = [
    { id: "plan", agent, transitionsTo: "build" },
    { id: "build", agent },
  ];
  const harness = new Harness({ id: "page-test", modes, defaultModeId: "build", storage, ...config });
  await harness.init();
  const holders: TokenHolder[] = [
    { sha256: tokenHash(TOKEN), resourceId: "default", by: "ann", may: ROLES },
    { sha256: tokenHash(TOKEN_OF_BOB), resourceId: "default", by: "bob", may: ROLES },
    { sha256: tokenHash(TOKEN_OF_READER), resourceId: "default", by: "eve", may: ["read"] },
  ];
  const authenticate = bearerTokens(() => holders);
  const server: CinchServer = createServer({ harness, authenticate, page: await page, ...(hosts ? { hosts } : {}) });
  const { url, port: bound } = await server.listen({ port });
  return {
    harness,
    /** Those whose tokens are valid. */
    holders,
    url,
    port: bound,
    address: `${url}/#token=${TOKEN}`,
    [Symbol.asyncDispose]: async () => {
      await server.close({ drainMs: 0 });
      await harness.close({ drainMs: 0 });
    },
  };
}

/** What a page has reported that no page should. */
export class PageProblems {
  readonly list: string[] = [];

  watch(tab: Page): void {
    tab.on("pageerror", (error) => this.list.push(`error: ${error.message}`));
    tab.on("console", (message) => {
      if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/.test(message.text()))
        this.list.push(`console: ${message.text()}`);
    });
    tab.on("dialog", (dialog) => {
      this.list.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }
}

/** A tab at the page, which has its token. */
export async function openTab(context: BrowserContext, address: string): Promise<Page & { problems: string[] }> {
  const tab = await context.newPage();
  const problems = new PageProblems();
  problems.watch(tab);
  await tab.goto(address);
  await tab.waitForSelector("#message");
  return Object.assign(tab, { problems: problems.list });
}

/** A question that has just taken the place of another one takes no answer yet. */
export const untilAnswerable = (tab: Page) => tab.waitForFunction(() => !document.querySelector(".asked.fresh"));

export async function begin(tab: Page, text: string): Promise<void> {
  await tab.fill("#message", text);
  await tab.keyboard.press("Enter");
}
