import { Refused } from '../../../bench/load/refused.ts';
import type { LinkOptions, OpenLink } from '../../../bench/load/stream-link.ts';
import type { StreamEvent } from '../../../src/client/stream-position.ts';

export const PIECES = ['you ', 'said ', 'hello'];

export interface LoadSessionOptions {
  /** What arrives in place of a frame. */
  readonly network?: (frame: StreamEvent) => readonly unknown[];
  /** Whether that turn, counted from 1, fails. */
  readonly fails?: (turn: number) => boolean;
  /** Whether the connection breaks in place of hearing what is said, that time. */
  readonly breaksAtSaying?: (time: number) => boolean;
  /** The connection and the message, counted from 1, that a limit refuses. */
  readonly limits?: { readonly opening: number; readonly saying: number };
}

/** A limit that has ended. */
const limitExceeded = () =>
  ({ code: 'RATE_LIMIT_EXCEEDED', message: 'too many', details: { resetTime: 0 } }) as const;

/** A session of the service, as a client under load sees it: each message is answered in three pieces. */
export class LoadSession {
  readonly log: StreamEvent[] = [];
  /** The ids of the messages, as often as they were said. */
  readonly said: string[] = [];
  readonly #options: LoadSessionOptions;
  #client: LinkOptions | null = null;
  #turns = 0;
  #openings = 0;

  constructor(options: LoadSessionOptions = {}) {
    this.#options = options;
  }

  readonly open: OpenLink = async (client) => {
    this.#openings += 1;
    if (this.#openings === this.#options.limits?.opening) throw Refused.byError(limitExceeded());
    // What is told at once must not come before the caller has its link.
    queueMicrotask(() => queueMicrotask(() => this.#join(client)));
    return {
      say: async (content, id) => this.#hear(content, id),
      drop: () => {
        if (this.#client === client) this.#client = null;
      },
    };
  };

  #join(client: LinkOptions): void {
    this.#client = client;
    const { seq, offset } = client.position;
    client.onText(JSON.stringify({ event: 'resumed', data: { after: seq, head: this.log.length } }));
    let known = offset;
    for (const event of this.log.slice(seq)) {
      if (event.event === 'stepCompleted') {
        if (this.#client === client) this.#sendRest(event, known);
        known = 0;
      }
      if (this.#client === client) this.#send(event);
    }
  }

  /** What the client does not have of the text of a step. */
  #sendRest({ data, turnId }: Extract<StreamEvent, { event: 'stepCompleted' }>, offset: number): void {
    const content = data.content.slice(offset);
    if (content !== '') this.#send({ event: 'chunk', data: { content }, turnId, step: data.step, offset });
  }

  #hear(content: string, clientMessageId: string): void {
    this.said.push(clientMessageId);
    if (this.said.length === this.#options.limits?.saying) {
      this.#send({ event: 'error', data: limitExceeded(), clientMessageId });
      return;
    }
    if (this.#options.breaksAtSaying?.(this.said.length)) {
      this.#client?.onLost();
      return;
    }
    this.#turns += 1;
    const turnId = `turn-${this.#turns}`;
    this.#append({ event: 'message', data: { content, clientMessageId }, turnId });
    if (this.#options.fails?.(this.#turns)) {
      const data = { code: 'AGENT_ERROR', message: 'no', details: {} } as const;
      this.#append({ event: 'error', data, turnId });
      return;
    }
    let offset = 0;
    for (const piece of PIECES) {
      this.#send({ event: 'chunk', data: { content: piece }, turnId, step: 1, offset });
      offset += piece.length;
    }
    const whole = PIECES.join('');
    this.#append({ event: 'stepCompleted', data: { content: whole, step: 1, callIds: [] }, turnId });
    this.#append({ event: 'response', data: { content: whole }, turnId });
  }

  #append(event: StreamEvent): void {
    const logged = { ...event, seq: this.log.length + 1 };
    this.log.push(logged);
    this.#send(logged);
  }

  #send(frame: StreamEvent): void {
    for (const arriving of this.#options.network?.(frame) ?? [frame])
      this.#client?.onText(typeof arriving === 'string' ? arriving : JSON.stringify(arriving));
  }
}
