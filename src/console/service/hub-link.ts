import { keptProvider } from '../identity/kept-provider.ts';
import { renewedKey } from '../identity/renewal.ts';
import type {
  ActionResult,
  FromHub,
  MachinesNews,
  SessionAction,
  SessionNews,
  ToHub,
} from './hub/hub-messages.ts';
import { openHub } from './hub/hub-port.ts';
import { keptKey, onKeyReplaced } from './kept-key.ts';
import { watchPresence } from './presence.ts';
import { tellSignedOut } from './signed-out.ts';

/** A stream that this tab shows. */
export interface Subscription {
  /** Whether news of the hub are for this stream. */
  readonly isFor: (news: SessionNews | MachinesNews) => boolean;
  readonly onNews: (news: SessionNews | MachinesNews) => void;
  /** What to tell the hub to get the stream, from where this tab has it. */
  readonly join: () => ToHub;
  readonly leave: () => ToHub;
  /** The hub has the stream no longer: nobody looks at this tab. */
  readonly onPaused: () => void;
  /** Whether the stream must stay while nobody looks, because something waits to be sent, or for its answer. */
  readonly isNeeded: () => boolean;
}

interface Waiting {
  readonly resolve: (result: ActionResult) => void;
  readonly reject: (error: Error) => void;
}

/** The connection of this tab to the hub, which has the streams of all tabs. */
export class HubLink {
  #port: MessagePort | null = null;
  #isAway = false;
  #lastId = 0;
  readonly #open = new Set<Subscription>();
  readonly #joined = new Set<Subscription>();
  readonly #waiting = new Map<number, Waiting>();

  constructor() {
    openHub(keptKey(), (port) => this.#use(port));
    onKeyReplaced(() => this.#showKey());
    watchPresence({ onAway: () => this.#leaveAll(), onBack: () => this.#joinAll() });
  }

  /** Opens the stream. @returns a function that closes it. */
  subscribe(subscription: Subscription): () => void {
    this.#open.add(subscription);
    if (!this.#isAway) this.#join(subscription);
    return () => {
      this.#open.delete(subscription);
      this.#leave(subscription);
    };
  }

  /** Rejects when the service refuses. */
  do(session: string, action: SessionAction): Promise<ActionResult> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#port?.postMessage({ kind: 'session.do', session, id, action } satisfies ToHub);
    });
  }

  #use(port: MessagePort): void {
    this.#port?.close();
    this.#port = port;
    for (const { reject } of this.#waiting.values()) reject(new Error('The connection was lost.'));
    this.#waiting.clear();
    this.#joined.clear();
    port.addEventListener('message', ({ data }: MessageEvent<FromHub>) => this.#receive(data));
    port.start();
    this.#showKey();
    if (!this.#isAway) this.#joinAll();
  }

  #receive(message: FromHub): void {
    switch (message.kind) {
      case 'done':
        this.#take(message.id)?.resolve(message.result);
        return;
      case 'failed':
        this.#take(message.id)?.reject(Object.assign(new Error(message.reason), { name: message.name }));
        return;
      case 'renew':
        void this.#renew(message.ended);
        return;
      case 'signed-out':
        tellSignedOut(new Error(message.reason), message.key);
        return;
      case 'crowded':
        if (document.visibilityState === 'hidden') this.#leaveAll();
        return;
      default:
        for (const subscription of this.#joined)
          if (subscription.isFor(message)) subscription.onNews(message);
    }
  }

  #showKey(): void {
    const held = { key: keptKey(), isRenewable: keptProvider() !== null };
    this.#port?.postMessage({ kind: 'key', ...held } satisfies ToHub);
  }

  /** Shows the hub another key, or the same one if there is no other. */
  async #renew(ended: string): Promise<void> {
    // If the provider does not answer, the sign-in ends.
    const renewed = await renewedKey(ended).catch(() => null);
    // A renewed key was shown when it replaced the other.
    if (renewed === null || renewed === ended) this.#showKey();
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #joinAll(): void {
    this.#isAway = false;
    for (const subscription of this.#open) if (!this.#joined.has(subscription)) this.#join(subscription);
  }

  #leaveAll(): void {
    this.#isAway = true;
    for (const subscription of this.#open) {
      if (!this.#joined.has(subscription) || subscription.isNeeded()) continue;
      this.#leave(subscription);
      subscription.onPaused();
    }
  }

  #join(subscription: Subscription): void {
    this.#joined.add(subscription);
    this.#port?.postMessage(subscription.join());
  }

  #leave(subscription: Subscription): void {
    if (this.#joined.delete(subscription)) this.#port?.postMessage(subscription.leave());
  }
}
