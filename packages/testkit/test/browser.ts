import { createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { after, test } from "node:test";
import { createBrotliDecompress } from "node:zlib";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from "playwright-core";

const PACKAGE = new URL("../", import.meta.resolve("@sparticuz/chromium"));
const CACHE = join(import.meta.dirname, "../../../node_modules/.cache/chromium");
/** The arguments that the package recommends would switch off what keeps pages apart. */
const ARGUMENTS = ["--no-sandbox", "--disable-gpu"];

/** Only ends what hangs: the 30 s that Playwright waits are reached on a busy machine. */
const LIMIT_MS = 300_000;

interface BrowserOptions {
  /** Names that resolve to this machine, such as `evil.example`. */
  loopbackNames?: readonly string[];
}

/** Starts a browser that keeps pages apart as that of a user does. */
export async function startBrowser({ loopbackNames = [] }: BrowserOptions = {}): Promise<Browser> {
  const rules = loopbackNames.map((name) => `MAP ${name} 127.0.0.1`).join(", ");
  const args = rules === "" ? ARGUMENTS : [...ARGUMENTS, `--host-resolver-rules=${rules}`];
  return chromium.launch({ executablePath: await unpackedBrowser(), args, timeout: LIMIT_MS });
}

/** The browsers of this process, by their options. */
const browsers = new Map<string, Promise<Browser | string>>();

/** The browser with these options, or why it does not start. All tests of this process share it. */
function sharedBrowser(options: BrowserOptions): Promise<Browser | string> {
  const key = JSON.stringify(options);
  const browser = browsers.get(key) ?? startBrowser(options).catch(whyNoBrowser);
  browsers.set(key, browser);
  return browser;
}

/** A context whose pages wait for as long as a busy machine needs. */
export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(LIMIT_MS);
  return context;
}

/**
 * A `test` in a browser. Each has a context of its own: no page sees what another test stored. If the browser does not start on this
 * machine, the tests are skipped and say why.
 */
export function browserTests(options: BrowserOptions = {}) {
  after(closeBrowsers);
  return (name: string, body: (context: BrowserContext) => Promise<void>): void => {
    test(name, async (t) => {
      const browser = await sharedBrowser(options);
      if (typeof browser === "string") return t.skip(browser);
      const context = await newContext(browser);
      try {
        await body(context);
      } finally {
        await context.close();
      }
    }).catch(() => undefined);
  };
}

async function closeBrowsers(): Promise<void> {
  const started = await Promise.all(browsers.values());
  browsers.clear();
  for (const browser of started) if (typeof browser === "object") await browser.close();
}

function whyNoBrowser(error: unknown): string {
  const [line] = (error instanceof Error ? error.message : String(error)).split("\n");
  return `The browser of @sparticuz/chromium does not start on this machine: ${line}`;
}

/** The browser, which the package has compressed. A process that unpacks at the same time gets the same file, or a whole one. */
async function unpackedBrowser(): Promise<string> {
  const { version } = JSON.parse(readFileSync(new URL("package.json", PACKAGE), "utf8")) as { version: string };
  const path = join(CACHE, version);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const unpacking = `${path}.${process.pid}`;
  await pipeline(
    createReadStream(new URL("bin/chromium.br", PACKAGE)),
    createBrotliDecompress(),
    createWriteStream(unpacking, { mode: 0o700 }),
  );
  renameSync(unpacking, path);
  return path;
}
