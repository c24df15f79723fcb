import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { type BusAddress, parseBusUrl } from '../../config/addresses/bus-url.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { NodeLink, Subject } from '../../ports/node-link.ts';
import { connectOnce, explained, isCredentialRefusal } from './nats-connecting.ts';
import { RepeatedSubscription } from './repeated-subscription.ts';
import { messagesOf, TextParts } from './text-parts.ts';

/** Bytes that wait to be sent. Beyond it, texts are dropped until they are sent. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Bytes after which the server is asked whether it has them all. Asking costs as much as a short text. */
const CONFIRM_BYTES = 256 * 1024;
const FIRST_CONNECT_MS = 3_000;
const BETWEEN_TRIES_MS = 300;
const CLOSE_MS = 1_000;
/** After it, a connection whose server says nothing any more is replaced, unless it has ended. */
const STALE_MS = 500;

export interface NatsOptions {
  readonly log: Logger;
  /** The name of this node, for the server's list of connections. */
  readonly name: string;
  /** Nodes of other clusters do not hear these. Letters, digits, `-` and `_`. */
  readonly cluster: string;
}

/** Connects to core NATS. Rejects with an error for the operator if no server can be reached. */
export async function connectNats(url: string, options: NatsOptions): Promise<NodeLink> {
  const address = parseBusUrl(url);
  const until = performance.now() + FIRST_CONNECT_MS;
  for (;;) {
    try {
      return new NatsLink(await connectOnce(address, options.name), address, options);
    } catch (error) {
      if (isCredentialRefusal(error) || performance.now() >= until) throw explained(error, address);
      await pause(BETWEEN_TRIES_MS);
    }
  }
}

class NatsLink implements NodeLink {
  #connection: NatsConnection;
  readonly #connect: () => Promise<NatsConnection>;
  readonly #prefix: string;
  readonly #shown: string;
  readonly #log: Logger;
  readonly #parts = new TextParts(() => {
    this.#dropped += 1;
  });
  readonly #gapListeners = new Set<() => void>();
  /** Names the texts of this connection. */
  readonly #sender = crypto.randomUUID();
  #sent = 0;
  #isUp = true;
  readonly #subscriptions = new Set<RepeatedSubscription>();
  /** What the server does not let this node hear. */
  readonly #refused = new Set<Subject>();
  #dropped = 0;
  /** Bytes that the server has not confirmed. */
  #waiting = 0;
  /** The connection of which it is asked whether the server has it all. */
  #confirming: NatsConnection | null = null;
  /** Runs until a stale connection ends, or is replaced. */
  #stale: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(connection: NatsConnection, address: BusAddress, { log, name, cluster }: NatsOptions) {
    this.#connection = connection;
    this.#connect = () => connectOnce(address, name);
    this.#prefix = `agent-service.${cluster}.`;
    this.#shown = address.shown;
    this.#log = log;
    void this.#watch(connection);
  }

  get isUp(): boolean {
    return this.#isUp && this.#refused.size === 0 && !this.#isClosed;
  }

  get dropped(): number {
    return this.#dropped;
  }

  publish(subject: Subject, text: string): void {
    if (!this.isUp || this.#waiting > MAX_WAITING_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#sent += 1;
    const maxBytes = this.#connection.info?.max_payload ?? 1024 * 1024;
    for (const message of messagesOf(text, `${this.#sender}.${this.#sent}`, maxBytes)) {
      this.#connection.publish(this.#prefix + subject, message);
      this.#waiting += Buffer.byteLength(message);
    }
    if (this.#waiting > CONFIRM_BYTES && this.#confirming !== this.#connection)
      void this.#confirm(this.#connection);
  }

  subscribe(subject: Subject, listener: (text: string) => void): Unsubscribe {
    const subscription = new RepeatedSubscription({
      open: (onError) => this.#open(subject, listener, onError),
      taken: () => this.#connection.flush(),
      onRefused: (err) => this.#noteRefusal(subject, err),
      onAccepted: () => this.#noteAcceptance(subject),
    });
    this.#subscriptions.add(subscription);
    return () => {
      subscription.end();
      this.#subscriptions.delete(subscription);
      this.#refused.delete(subject);
    };
  }

  #open(subject: Subject, listener: (text: string) => void, onError: (error: Error) => void): Subscription {
    return this.#connection.subscribe(this.#prefix + subject, {
      callback: (error, { data }) => {
        if (error) {
          onError(error);
          return;
        }
        try {
          const text = this.#parts.take(data);
          if (text !== undefined) listener(text);
        } catch (err) {
          // A listener that throws would end the connection.
          this.#log.error({ bus: this.#shown, subject, err }, 'a text of another node could not be taken');
        }
      },
    });
  }

  #noteRefusal(subject: Subject, err: Error): void {
    if (!this.#refused.has(subject) && !this.#isClosed)
      this.#log.error({ bus: this.#shown, subject, err }, 'NATS refuses a subscription: nodes are not heard');
    this.#refused.add(subject);
  }

  #noteAcceptance(subject: Subject): void {
    if (this.#refused.delete(subject) && this.isUp) this.#regain();
  }

  onGap(listener: () => void): Unsubscribe {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    const wasUp = this.isUp;
    this.#isClosed = true;
    clearTimeout(this.#stale);
    const closed = wasUp ? this.#connection.drain() : this.#connection.close();
    await Promise.race([closed.catch(() => undefined), pause(CLOSE_MS)]);
    if (!this.#connection.isClosed()) void this.#connection.close();
  }

  /** Counts what waits: the connection takes any amount. One that is replaced meanwhile never answers. */
  async #confirm(connection: NatsConnection): Promise<void> {
    this.#confirming = connection;
    const isCurrent = () => this.#confirming === connection && this.#connection === connection;
    try {
      while (isCurrent() && this.#waiting > CONFIRM_BYTES && this.isUp) {
        const sending = this.#waiting;
        await connection.flush();
        if (isCurrent()) this.#waiting = Math.max(0, this.#waiting - sending);
      }
    } catch (err) {
      this.#log.debug({ bus: this.#shown, err }, 'NATS did not take all texts');
      if (isCurrent()) this.#waiting = 0;
    } finally {
      if (this.#confirming === connection) this.#confirming = null;
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (connection !== this.#connection) return;
      switch (status.type) {
        case 'staleConnection':
          this.#lose();
          // The socket ends when all that waits is sent, which a server that reads nothing any more puts off for a quarter
          // of an hour.
          this.#stale = setTimeout(() => void this.#replace(connection), STALE_MS).unref();
          break;
        case 'disconnect':
          clearTimeout(this.#stale);
          this.#lose();
          break;
        case 'reconnect':
          this.#regain();
          break;
        case 'slowConsumer':
          this.#dropped += 1;
          this.#log.warn({ bus: this.#shown }, 'NATS has dropped texts: this node reads them too slowly');
          this.#tellGap();
          break;
        case 'error':
          this.#log.warn({ bus: this.#shown, err: status.error }, 'NATS has reported an error');
          break;
        default:
          break;
      }
    }
  }

  #lose(): void {
    if (this.#isUp && !this.#isClosed)
      this.#log.error({ bus: this.#shown }, 'NATS cannot be reached: nodes do not hear of each other');
    this.#isUp = false;
    this.#waiting = 0;
    this.#parts.clear();
  }

  /** Connects anew, unless the stale connection comes back first, and says all subscriptions again. */
  async #replace(stale: NatsConnection): Promise<void> {
    const isNeeded = () => !this.#isUp && !this.#isClosed && this.#connection === stale;
    while (isNeeded()) {
      const next = await this.#connect().catch((err: unknown) => {
        this.#log.debug({ bus: this.#shown, err }, 'NATS cannot be reached by another connection either');
      });
      if (next && isNeeded()) await this.#use(next);
      else if (next) await next.close();
      else await pause(BETWEEN_TRIES_MS);
    }
  }

  async #use(connection: NatsConnection): Promise<void> {
    const stale = this.#connection;
    this.#connection = connection;
    void this.#watch(connection);
    void stale.close();
    this.#refused.clear();
    for (const subscription of this.#subscriptions) subscription.renew();
    // What others say from here on is heard, so that the gap ends. One that is lost again meanwhile comes back by itself.
    await connection.flush().catch(() => undefined);
    if (!this.#isUp && !this.#isClosed && connection === this.#connection) this.#regain();
  }

  #regain(): void {
    this.#log.info({ bus: this.#shown }, 'NATS can be reached again');
    this.#isUp = true;
    this.#tellGap();
  }

  #tellGap(): void {
    for (const listener of this.#gapListeners) listener();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
