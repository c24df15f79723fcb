import { setTimeout as wait } from 'node:timers/promises';
import { readFrame } from '../../src/client/read-frame.ts';
import type { ResumableFrame } from '../../src/wire/frames.ts';
import type { ConnectionQueue } from './connection-queue.ts';
import { requireExpected } from './expected.ts';
import type { Instance } from './instance.ts';
import type { LoadOptions } from './options.ts';
import { ReceivedStream } from './received-stream.ts';
import { Refused, reasonOf } from './refused.ts';
import { RETRY_MS, ResumingLink } from './resuming-link.ts';
import type { OpenLink } from './stream-link.ts';
import type { Tally } from './tally.ts';
import { untilAllowed } from './until-allowed.ts';
import { Unanswered } from './within.ts';

/** The longest wait for events that the log has and that were not received yet. */
const ARRIVAL_SECONDS = 2;

interface Question {
  readonly clientMessageId: string;
  askedAt: number;
  /** Resolves when the turn has ended, with an error when it failed. */
  ended: PromiseWithResolvers<'answered' | Error>;
  /** Null until the service has accepted it. */
  turnId: string | null;
  firstMs: number | null;
}

export interface TalkerDeps {
  readonly options: LoadOptions;
  readonly instance: Pick<Instance, 'log' | 'cancel'>;
  readonly tally: Tally;
  readonly open: OpenLink;
  readonly queue: Pick<ConnectionQueue, 'wait' | 'release'>;
  /** After its abort the client sends no more messages. */
  readonly stopping: AbortSignal;
}

/**
 * A streaming client: sends its messages, receives the answers, and compares what it received with the log. It drops
 * its connection now and then and resumes. It also resumes a lost connection, and repeats a message that was not
 * accepted.
 */
export class Talker {
  readonly #session: string;
  readonly #deps: TalkerDeps;
  readonly #stream = new ReceivedStream();
  readonly #link: ResumingLink;
  #question: Question | null = null;
  /** The first fault of the stream. Frames after it are not read. */
  #fault: string | null = null;
  #isUnanswered = false;
  #onEvent: () => void = () => undefined;

  constructor(session: string, deps: TalkerDeps) {
    this.#session = session;
    this.#deps = deps;
    this.#link = new ResumingLink({
      url: deps.options.url,
      session,
      open: deps.open,
      position: () => this.#stream.position,
      onText: (text) => this.#receive(text),
      onLost: () => {
        deps.tally.lost += 1;
      },
    });
  }

  async run(): Promise<void> {
    const { tally, queue } = this.#deps;
    try {
      if (!(await this.#begin())) return;
      await this.#askAll();
      await tally.compare(this.#session, () => this.#difference());
    } finally {
      this.#link.drop();
      queue.release();
    }
  }

  /** Connects, as soon as a limit of the service allows it. @returns false when the load was stopped before. */
  async #begin(): Promise<boolean> {
    const { options, tally, queue, stopping } = this.#deps;
    const waitOut = async (): Promise<void> => {
      await tally.waitForLimit(0);
      await queue.wait(stopping);
    };
    let isConnected = false;
    await untilAllowed({ ...options, stopping, waitOut }, async (late) => {
      await this.#link.connect(late);
      isConnected = true;
    });
    return isConnected;
  }

  async #askAll(): Promise<void> {
    const { options, tally, stopping } = this.#deps;
    for (let message = 0; message < options.messages && !stopping.aborted && !this.#fault; message += 1) {
      try {
        await this.#ask(options.message);
      } catch (error) {
        if (this.#fault) return;
        tally.failed(reasonOf(error));
        this.#isUnanswered = error instanceof Unanswered;
        // A late answer would be taken for the answer to the next message.
        if (this.#isUnanswered) return;
      }
    }
  }

  /** @returns the first fault, or the first difference from the log, or null. */
  async #difference(): Promise<string | null> {
    const { instance } = this.#deps;
    if (this.#fault) return this.#fault;
    if (this.#isUnanswered) await instance.cancel(this.#session);
    const logged = await instance.log(this.#session);
    await this.#hearUpTo(logged.length);
    return this.#fault ?? this.#stream.differenceFrom(logged);
  }

  /** Waits a moment for the events that the log has. */
  async #hearUpTo(events: number): Promise<void> {
    if (this.#stream.events >= events) return;
    const { tally, options, stopping } = this.#deps;
    const { timeoutSeconds } = options;
    const waitOut = (limitMs: number): Promise<void> => tally.waitForLimit(limitMs);
    await untilAllowed({ timeoutSeconds, stopping, waitOut }, (late) => this.#link.connect(late));
    const arrived = new Promise<void>((resolve) => {
      this.#onEvent = () => {
        if (this.#fault !== null || this.#stream.events >= events) resolve();
      };
    });
    this.#onEvent();
    const longestMs = Math.min(ARRIVAL_SECONDS, timeoutSeconds) * 1_000;
    await Promise.race([arrived, wait(longestMs, undefined, { ref: false })]);
  }

  async #ask(content: string): Promise<void> {
    const { tally } = this.#deps;
    const question: Question = {
      clientMessageId: crypto.randomUUID(),
      askedAt: performance.now(),
      ended: Promise.withResolvers(),
      turnId: null,
      firstMs: null,
    };
    this.#question = question;
    try {
      const isOver = await this.#untilEndedPatiently(question, content);
      if (isOver) tally.answered(performance.now() - question.askedAt, question.firstMs);
      else this.#isUnanswered = true;
    } finally {
      this.#question = null;
    }
  }

  /** @returns false when the load was stopped during a limit. The times do not include limits. */
  async #untilEndedPatiently(question: Question, content: string): Promise<boolean> {
    const { options, tally, stopping } = this.#deps;
    let isOver = false;
    const waitOut = async (limitMs: number): Promise<void> => {
      question.ended = Promise.withResolvers();
      await tally.waitForLimit(limitMs, stopping);
      question.askedAt = performance.now();
    };
    await untilAllowed({ ...options, stopping, waitOut }, async (late) => {
      await this.#untilEnded(question, content, late);
      isOver = true;
    });
    return isOver;
  }

  async #untilEnded(question: Question, content: string, late: AbortSignal): Promise<void> {
    for (;;) {
      late.throwIfAborted();
      await this.#link.connect(late);
      if (question.turnId === null) this.#link.say(content, question.clientMessageId, question.ended.resolve);
      const end = await Promise.race([question.ended.promise, this.#link.end]);
      if (end instanceof Error) throw end;
      if (end === 'answered') return;
      if (end === 'lost') await wait(RETRY_MS);
    }
  }

  #receive(text: string): void {
    try {
      const frame = readFrame(text);
      if (frame.event === 'machines' || frame.event === 'machine')
        throw new Error('states were not asked for');
      this.#stream.take(frame);
      this.#onEvent();
      if (this.#question) this.#hear(frame, this.#question);
    } catch (error) {
      // Every later frame would be another fault.
      this.#fault = reasonOf(error);
      this.#link.drop();
      this.#question?.ended.resolve(new Error(this.#fault));
      this.#onEvent();
    }
  }

  #hear(frame: ResumableFrame, question: Question): void {
    const { tally, options } = this.#deps;
    requireExpected(frame, options);
    if (frame.event === 'chunk') {
      tally.chunks += 1;
      question.firstMs ??= performance.now() - question.askedAt;
    } else if (frame.event === 'message' && frame.data.clientMessageId === question.clientMessageId) {
      question.turnId = frame.turnId ?? null;
    } else if (frame.event === 'response' && frame.turnId === question.turnId) {
      question.ended.resolve('answered');
      return;
    } else if (frame.event === 'error') {
      this.#hearRefusal(Refused.byError(frame.data), question);
      return;
    }
    // Never drop at `resumed`: with `--drops 1` the client would not get any further.
    const isDropped = question.turnId !== null && frame.event !== 'resumed' && Math.random() < options.drops;
    if (!isDropped) return;
    tally.resumed += 1;
    this.#link.drop();
  }

  #hearRefusal(refused: Refused, question: Question): void {
    if (refused.isTemporary && question.turnId === null) this.#link.lose();
    else question.ended.resolve(refused);
  }
}
