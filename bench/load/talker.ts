import type { ResumableFrame } from '../../src/contract/frames.ts';
import type { Instance } from './instance.ts';
import type { LoadOptions } from './options.ts';
import { ReceivedStream } from './received-stream.ts';
import type { OpenLink, StreamLink } from './stream-link.ts';
import type { Tally } from './tally.ts';

interface Question {
  readonly clientMessageId: string;
  readonly askedAt: number;
  readonly ended: PromiseWithResolvers<void>;
  /** Null until the service has accepted it. */
  turnId: string | null;
  firstMs: number | null;
}

export interface TalkerParts {
  readonly options: LoadOptions;
  readonly instance: Instance;
  readonly tally: Tally;
  readonly open: OpenLink;
}

/** One client: asks, hears the answer, drops its connection now and then and resumes, and looks whether it has missed anything. */
export class Talker {
  readonly #session: string;
  readonly #parts: TalkerParts;
  readonly #stream = new ReceivedStream();
  #link: StreamLink | null = null;
  #connected: Promise<void> = Promise.resolve();
  #question: Question | null = null;

  constructor(session: string, parts: TalkerParts) {
    this.#session = session;
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { options, tally } = this.#parts;
    this.#connected = this.#connect();
    try {
      for (let message = 0; message < options.messages; message += 1) await this.#ask(options.message);
      const difference = this.#stream.differenceFrom(await this.#parts.instance.log(this.#session));
      tally.compared(this.#session, difference);
    } finally {
      this.#link?.drop();
    }
  }

  async #connect(): Promise<void> {
    const { options, open } = this.#parts;
    this.#link = await open({
      url: options.url,
      session: this.#session,
      position: this.#stream.position,
      onFrame: (frame) => this.#receive(frame),
      onLost: (error) => this.#question?.ended.reject(error),
    });
  }

  async #ask(content: string): Promise<void> {
    const { tally, options } = this.#parts;
    await this.#connected;
    const question: Question = {
      clientMessageId: crypto.randomUUID(),
      askedAt: performance.now(),
      ended: Promise.withResolvers(),
      turnId: null,
      firstMs: null,
    };
    this.#question = question;
    const { promise, reject } = question.ended;
    const timeout = new Error(`no answer within ${options.timeoutSeconds} s`);
    const timer = setTimeout(() => reject(timeout), options.timeoutSeconds * 1_000);
    try {
      await Promise.all([this.#link?.say(content, question.clientMessageId), promise]);
      tally.answered(performance.now() - question.askedAt, question.firstMs);
    } finally {
      clearTimeout(timer);
      this.#question = null;
    }
  }

  #receive(frame: ResumableFrame): void {
    try {
      this.#stream.take(frame);
    } catch (error) {
      this.#parts.tally.fault(this.#session, error instanceof Error ? error.message : String(error));
      this.#question?.ended.reject(error);
      return;
    }
    const question = this.#question;
    if (!question) return;
    this.#note(frame, question);
    const isRunning = question.turnId !== null && frame.event !== 'response';
    if (isRunning && Math.random() < this.#parts.options.drops) this.#dropAndResume();
  }

  #note(frame: ResumableFrame, question: Question): void {
    if (frame.event === 'chunk') {
      this.#parts.tally.chunks += 1;
      question.firstMs ??= performance.now() - question.askedAt;
    } else if (frame.event === 'message' && frame.data.clientMessageId === question.clientMessageId) {
      question.turnId = frame.turnId ?? null;
    } else if (frame.event === 'response' && frame.turnId === question.turnId) {
      question.ended.resolve();
    } else if (frame.event === 'error') {
      question.ended.reject(new Error(`${frame.data.code}: ${frame.data.message}`));
    }
  }

  #dropAndResume(): void {
    if (!this.#link) return;
    this.#link.drop();
    this.#link = null;
    this.#parts.tally.resumed += 1;
    this.#connected = this.#connect();
    this.#connected.catch((error: unknown) => this.#question?.ended.reject(error));
  }
}
