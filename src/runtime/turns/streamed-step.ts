import type { SessionId, TurnId } from '../../core/ids.ts';
import type { ReplyChunk, ReplyReasoning, SessionSignal } from '../../core/session/session-signal.ts';

export interface StepPlace {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly step: number;
}

/** What one model call has streamed. Each piece goes straight to the bus: no transition and no write for it. */
export class StreamedStep {
  readonly #place: StepPlace;
  readonly #publish: (signal: SessionSignal) => void;
  #separator = '';
  #text = '';
  #thought = '';

  constructor(place: StepPlace, publish: (signal: SessionSignal) => void) {
    this.#place = place;
    this.#publish = publish;
  }

  /** @param separator parts the text from what earlier steps said; streamed before the first piece. */
  say(text: string, separator = ''): void {
    if (separator !== '') {
      this.#publish(this.#chunk(0, separator));
      this.#separator = separator;
    }
    if (text === '') return;
    this.#publish(this.#chunk(this.#separator.length + this.#text.length, text));
    this.#text += text;
  }

  think(text: string): void {
    this.#publish(this.#reasoning(this.#thought.length, text));
    this.#thought += text;
  }

  /** Without the separator. */
  get text(): string {
    return this.#text;
  }

  /** All that was said, as one chunk; null before the first text. */
  get chunk(): ReplyChunk | null {
    const said = this.#separator + this.#text;
    return said === '' ? null : this.#chunk(0, said);
  }

  /** All that was thought aloud, as one piece; null before the first. */
  get reasoning(): ReplyReasoning | null {
    return this.#thought === '' ? null : this.#reasoning(0, this.#thought);
  }

  #chunk(offset: number, content: string): ReplyChunk {
    const { sessionId, turnId, step } = this.#place;
    return { type: 'reply.chunk', sessionId, turnId, step, offset, content };
  }

  #reasoning(offset: number, content: string): ReplyReasoning {
    const { sessionId, turnId, step } = this.#place;
    return { type: 'reply.reasoning', sessionId, turnId, step, offset, content };
  }
}
