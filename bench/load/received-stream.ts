import { isDeepStrictEqual } from 'node:util';
import { advance, START, type StreamEvent, type StreamPosition } from '../../src/client/stream-position.ts';
import type { ResumableFrame } from '../../src/wire/frames.ts';

/**
 * What a resuming client has received of a session. Checks that every event and every character comes once, in order.
 */
export class ReceivedStream {
  #position: StreamPosition = START;
  #stepText = '';
  /** Text of the running turn, over all its ended steps. */
  #turnText = '';
  readonly #messageIds = new Set<string>();
  readonly #events: StreamEvent[] = [];

  /** Where the next connection resumes. */
  get position(): StreamPosition {
    return this.#position;
  }

  /** Number of received events. */
  get events(): number {
    return this.#events.length;
  }

  /** @throws Error when the frame leaves a gap, comes twice, or contradicts what was streamed. */
  take(frame: ResumableFrame): void {
    if (frame.event === 'resumed') this.#requireSamePlace(frame.data.after);
    else if (frame.event !== 'accepted' && frame.event !== 'done') this.#advance(frame);
  }

  /** @returns the first difference from the log, or null. */
  differenceFrom(logged: readonly unknown[]): string | null {
    if (logged.length !== this.#events.length)
      return `${this.#events.length} events were received, ${logged.length} are in the log`;
    const index = this.#events.findIndex((event, at) => !isDeepStrictEqual(event, logged[at]));
    return index === -1
      ? null
      : `event ${index + 1} was received as ${JSON.stringify(this.#events[index])} and is in the log as ${JSON.stringify(logged[index])}`;
  }

  #requireSamePlace(after: number): void {
    if (after !== this.#position.seq)
      throw new Error(`the stream was resumed after ${after} instead of ${this.#position.seq}`);
  }

  #advance(received: StreamEvent): void {
    const { position, frame } = advance(this.#position, received);
    if (frame !== received) throw new Error(`received twice: ${JSON.stringify(received)}`);
    if (received.event === 'chunk') this.#addText(received.data.content, received.offset);
    if (received.event === 'stepCompleted') this.#endStep(received.data);
    if (received.event === 'response') this.#endTurn(received.data.content);
    if (received.event === 'message') this.#addMessage(received.data.clientMessageId);
    // An event in the middle of a text, such as a message that waits, does not end it.
    if (received.seq !== undefined && position.offset === 0) this.#stepText = '';
    if (received.seq !== undefined) this.#events.push(received);
    this.#position = position;
  }

  #endStep({ step, content }: { step: number; content: string }): void {
    if (content !== this.#stepText)
      throw new Error(`the text of step ${step} differs from the streamed text`);
    this.#turnText = step === 1 ? content : this.#turnText + content;
  }

  #endTurn(answer: string): void {
    if (answer !== this.#turnText) throw new Error('the answer differs from the streamed text');
  }

  #addMessage(id: string | undefined): void {
    if (id === undefined) return;
    if (this.#messageIds.has(id)) throw new Error(`the message ${id} was taken twice`);
    this.#messageIds.add(id);
  }

  #addText(text: string, offset: number | undefined): void {
    this.#stepText = offset === 0 ? text : this.#stepText + text;
  }
}
