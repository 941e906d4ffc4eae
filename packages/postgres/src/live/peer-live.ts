import type { Live, LiveReader, LiveSource } from "@cinch/core";
import { liveSettings, type LiveAddress, type LiveSettings, type PeerLiveOptions } from "./live-options.ts";
import { LivePeer } from "./live-peer.ts";
import { LiveServer } from "./live-server.ts";

/** A connection that no thread needs any more is kept for so long: the next turn may need it. */
const IDLE_MS = 60_000;

/**
 * Shows what other processes drive as it happens: each process reads from those that drive what it needs, over one connection each. Nothing
 * is encrypted, so it belongs in a private network, or behind a proxy that encrypts.
 */
export function peerLive(options: PeerLiveOptions = {}): Live {
  return new PeerLive(liveSettings(options));
}

class PeerLive implements Live {
  readonly #settings: LiveSettings;
  readonly #peers = new Map<string, LivePeer>();
  #opened: Promise<{ server: LiveServer; address: string }> | undefined;
  #sweep: NodeJS.Timeout | undefined;

  constructor(settings: LiveSettings) {
    this.#settings = settings;
  }

  async open(source: LiveSource): Promise<{ address?: string }> {
    this.#sweep ??= setInterval(() => this.#closeUnneeded(), IDLE_MS).unref();
    const { advertise } = this.#settings;
    if (!advertise) return {};
    this.#opened ??= this.#listen(source, advertise);
    return { address: (await this.#opened).address };
  }

  async #listen(source: LiveSource, advertise: LiveAddress): Promise<{ server: LiveServer; address: string }> {
    const server = new LiveServer(source, this.#settings);
    try {
      return { server, address: await server.listen(advertise) };
    } catch (error) {
      // The next call tries again.
      this.#opened = undefined;
      throw error;
    }
  }

  follow(threadId: string, { address }: { address: string }, reader: LiveReader): () => void {
    const peer = this.#peers.get(address) ?? new LivePeer(address, this.#settings.secret);
    this.#peers.set(address, peer);
    return peer.follow(threadId, reader);
  }

  /** Since the last sweep: a connection is kept for one to two of them. */
  readonly #unneeded = new Set<LivePeer>();

  #closeUnneeded(): void {
    for (const [address, peer] of this.#peers) {
      if (peer.isNeeded) this.#unneeded.delete(peer);
      else if (!this.#unneeded.has(peer)) this.#unneeded.add(peer);
      else {
        peer.close();
        this.#unneeded.delete(peer);
        this.#peers.delete(address);
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    for (const peer of this.#peers.values()) peer.close();
    this.#peers.clear();
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await opened?.server.close();
  }
}
