import { ResumableFrame } from '../../../src/wire/frames.ts';

/** One piece of text, as it came. */
export interface StreamedPiece {
  readonly turnId: string;
  readonly step: number;
  readonly offset: number;
  readonly content: string;
}

/** All that one reader of a session was given, over however many connections. Throws on a gap and on a repetition. */
export class StreamRecord {
  /** Every durable event, as it came. */
  readonly events: ResumableFrame[] = [];
  /** Every piece of text, as it came, and also those of steps that a restart made void. */
  readonly pieces: StreamedPiece[] = [];
  /** What was streamed of each step, the last being the one that runs. */
  readonly #texts: { turnId: string; step: number; content: string }[] = [];
  #isRunning = false;

  get seq(): number {
    return this.events.length;
  }

  /** Of the running step's text. */
  get offset(): number {
    return this.#isRunning ? (this.#texts.at(-1)?.content.length ?? 0) : 0;
  }

  /** @param sent one frame, not checked yet. */
  add(sent: unknown): void {
    const frame = ResumableFrame.parse(sent);
    if (frame.seq !== undefined) this.#addEvent(frame, frame.seq);
    else if (frame.event === 'chunk') this.#addText(frame);
  }

  #addEvent(frame: ResumableFrame, seq: number): void {
    if (seq !== this.seq + 1) throw new Error(`event ${seq} came after event ${this.seq}`);
    this.events.push(frame);
    if (frame.event === 'turnResumed' && this.#isRunning) this.#texts.pop();
    const running = this.#texts.at(-1);
    if (frame.event === 'stepCompleted') {
      const said = this.#isRunning ? running?.content : '';
      if (said !== frame.data.content) throw new Error(`of "${frame.data.content}" came "${said}"`);
    }
    if (frame.event === 'error' && frame.turnId !== running?.turnId) return;
    if (['turnResumed', 'stepCompleted', 'error'].includes(frame.event)) this.#isRunning = false;
  }

  #addText({ turnId = '', step = 0, offset, data }: Extract<ResumableFrame, { event: 'chunk' }>): void {
    if (!this.#isRunning) this.#texts.push({ turnId, step, content: '' });
    this.#isRunning = true;
    const text = this.#texts.at(-1);
    if (text?.turnId !== turnId || text.step !== step) throw new Error(`step ${step} began in another`);
    if (text.content.length !== offset)
      throw new Error(`text at ${offset} came after text up to ${text.content.length}`);
    text.content += data.content;
    this.pieces.push({ turnId, step, offset, content: data.content });
  }

  /** What was streamed of a turn, over all its steps. */
  textOf(turnId: string | undefined): string {
    return this.#texts.flatMap((text) => (text.turnId === turnId ? [text.content] : [])).join('');
  }
}
