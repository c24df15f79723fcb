import type { Envelope } from '../../../src/core/log/envelope.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { ReplyChunk, SessionSignal } from '../../../src/core/session/session-signal.ts';
import type { NodeId, StreamPlace } from '../../../src/ports/membership.ts';
import type { WatchedPosition } from '../../../src/runtime/cluster/node-questions.ts';

/** A session that its owner, one of several nodes, writes and streams. It keeps what a perfect listener would have heard. */
export class FedSession {
  readonly stream: string;
  owner: NodeId | null;
  /** All events since the session began. */
  events: Envelope[] = [];
  /** The text of each step that has ended, by turn and step. */
  readonly texts = new Map<string, string>();
  running: ReplyChunk | null = null;
  readonly #publish: (from: NodeId, signal: SessionSignal) => void;
  #turns = 0;
  #began = 1;

  constructor(
    stream: string,
    owner: NodeId | null,
    publish: (from: NodeId, signal: SessionSignal) => void = () => undefined,
  ) {
    this.stream = stream;
    this.owner = owner;
    this.#publish = publish;
  }

  get head(): number {
    return this.events.length;
  }

  get place(): StreamPlace {
    return { owner: this.owner, head: this.head, began: this.#began };
  }

  position(): Omit<WatchedPosition, 'wasWatched' | 'n'> {
    return { head: this.head, running: this.running, reasoning: null };
  }

  read(afterSeq: number, limit: number): Envelope[] {
    return this.events.slice(afterSeq, afterSeq + limit);
  }

  append(event: SessionEvent): Envelope {
    const envelope = { sessionId: this.stream, seq: this.head + 1, time: this.#began, event, meta: null };
    this.events.push(envelope);
    this.#tell(envelope);
    return envelope;
  }

  begin(): Envelope {
    this.#turns += 1;
    return this.append({ type: 'turn.started', turnId: this.turnId });
  }

  get turnId(): string {
    return `t${this.#turns}`;
  }

  /** Streams a piece of the running step. */
  say(content: string): ReplyChunk {
    const { length: offset } = this.running?.content ?? '';
    const chunk: ReplyChunk = {
      type: 'reply.chunk',
      sessionId: this.stream,
      turnId: this.turnId,
      step: 1,
      offset,
      content,
    };
    this.running = { ...chunk, offset: 0, content: (this.running?.content ?? '') + content };
    this.#tell(chunk);
    return chunk;
  }

  /** Ends the step with what was said. */
  endStep(): Envelope {
    const text = this.running?.content ?? '';
    this.running = null;
    this.texts.set(`${this.turnId} 1`, text);
    return this.append({
      type: 'step.completed',
      turnId: this.turnId,
      step: 1,
      separator: '',
      parts: [{ type: 'text', text }],
      source: null,
    });
  }

  /** Another node goes on with the open turn. The text of the step is void. */
  resume(attempt: number): Envelope {
    this.running = null;
    return this.append({ type: 'turn.resumed', turnId: this.turnId, attempt });
  }

  /** The next event is the first of another session with this id. */
  delete(): void {
    this.append({ type: 'session.deleted' });
    this.events = [];
    this.running = null;
    this.#began += 1;
  }

  #tell(signal: SessionSignal): void {
    if (this.owner !== null) this.#publish(this.owner, signal);
  }
}

/** The text of each step, as a listener has it who voids it when the turn is resumed. */
export function heardTexts(signals: readonly SessionSignal[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const signal of signals) {
    if ('event' in signal) {
      if (signal.event.type !== 'turn.resumed') continue;
      for (const key of texts.keys()) if (key.startsWith(`${signal.event.turnId} `)) texts.delete(key);
    } else if (signal.type === 'reply.chunk') {
      const key = `${signal.turnId} ${signal.step}`;
      texts.set(key, (texts.get(key) ?? '') + signal.content);
    }
  }
  return texts;
}
