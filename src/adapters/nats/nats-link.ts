import { connect, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { type BusAddress, parseBusUrl } from '../../config/addresses/bus-url.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { NodeLink, Subject } from '../../ports/node-link.ts';
import { RepeatedSubscription } from './repeated-subscription.ts';
import { messagesOf, TextParts } from './text-parts.ts';

/** Bytes that wait to be sent. Beyond it, texts are dropped until they are sent. */
const MOST_WAITING_BYTES = 32 * 1024 * 1024;
/** Bytes after which the server is asked whether it has them all. Asking costs as much as a short text. */
const CONFIRM_BYTES = 256 * 1024;
const FIRST_CONNECT_MS = 3_000;
const BETWEEN_TRIES_MS = 300;
const CLOSE_MS = 1_000;

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
      if (isRefusal(error) || performance.now() >= until) throw explained(error, address);
      await pause(BETWEEN_TRIES_MS);
    }
  }
}

class NatsLink implements NodeLink {
  readonly #connection: NatsConnection;
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
  /** What the server does not let this node hear. */
  readonly #refused = new Set<Subject>();
  #dropped = 0;
  /** Bytes that the server has not confirmed. */
  #waiting = 0;
  #confirming = false;
  #isClosed = false;

  constructor(connection: NatsConnection, { shown }: BusAddress, { log, cluster }: NatsOptions) {
    this.#connection = connection;
    this.#prefix = `agent-service.${cluster}.`;
    this.#shown = shown;
    this.#log = log;
    void this.#watch();
  }

  get isUp(): boolean {
    return this.#isUp && this.#refused.size === 0 && !this.#isClosed;
  }

  get dropped(): number {
    return this.#dropped;
  }

  publish(subject: Subject, text: string): void {
    if (!this.isUp || this.#waiting > MOST_WAITING_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#sent += 1;
    const maxBytes = this.#connection.info?.max_payload ?? 1024 * 1024;
    for (const message of messagesOf(text, `${this.#sender}.${this.#sent}`, maxBytes)) {
      this.#connection.publish(this.#prefix + subject, message);
      this.#waiting += Buffer.byteLength(message);
    }
    if (this.#waiting > CONFIRM_BYTES && !this.#confirming) void this.#confirm();
  }

  subscribe(subject: Subject, listener: (text: string) => void): Unsubscribe {
    const subscription = new RepeatedSubscription({
      open: (onError) => this.#open(subject, listener, onError),
      taken: () => this.#connection.flush(),
      onRefused: (err) => this.#noteRefusal(subject, err),
      onAccepted: () => this.#noteAcceptance(subject),
    });
    return () => {
      subscription.end();
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
          // It would end the connection.
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
    const closed = wasUp ? this.#connection.drain() : this.#connection.close();
    await Promise.race([closed.catch(() => undefined), pause(CLOSE_MS)]);
    if (!this.#connection.isClosed()) void this.#connection.close();
  }

  /** Counts what waits: the connection takes any amount. */
  async #confirm(): Promise<void> {
    this.#confirming = true;
    try {
      while (this.#waiting > CONFIRM_BYTES && this.isUp) {
        const sending = this.#waiting;
        await this.#connection.flush();
        this.#waiting -= sending;
      }
    } catch (err) {
      this.#log.debug({ bus: this.#shown, err }, 'NATS did not take all texts');
      this.#waiting = 0;
    } finally {
      this.#confirming = false;
    }
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) {
      switch (status.type) {
        case 'disconnect':
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

  #regain(): void {
    this.#log.info({ bus: this.#shown }, 'NATS can be reached again');
    this.#isUp = true;
    this.#tellGap();
  }

  #tellGap(): void {
    for (const listener of this.#gapListeners) listener();
  }
}

function connectOnce({ servers, user, password, token, isTls }: BusAddress, name: string) {
  return connect({
    servers: [...servers],
    name,
    timeout: 1_500,
    noEcho: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 400,
    reconnectJitterTLS: 400,
    // A server that says nothing is noticed after about two seconds.
    pingInterval: 1_000,
    maxPingOut: 2,
    // It may be a password that is being changed.
    ignoreAuthErrorAbort: true,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    ...(isTls && { tls: {} }),
  });
}

/** Whether trying again would not help. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthorizationError';
}

function explained(error: unknown, { shown }: BusAddress): Error {
  if (isRefusal(error))
    return new Error(`NATS at ${shown} refuses the user, password or token of --bus`, { cause: error });
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(
    `NATS at ${shown} cannot be reached (${reason}): start nats-server there, or correct --bus`,
    {
      cause: error,
    },
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
