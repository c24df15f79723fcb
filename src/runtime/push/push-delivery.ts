import { sessionNameFor } from '../../core/access/session-names.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { ANYONE } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Bus } from '../../ports/bus.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import type { ReportTurn, TurnReport } from '../../ports/turn-report.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';
import type { PushBook, StoredPush } from './push-book.ts';
import { PushSending, type SendingDeps, type Sent } from './push-sending.ts';

export interface DeliveryDeps extends SendingDeps {
  readonly bus: Pick<Bus, 'send' | 'onSession' | 'offSession'>;
  readonly book: PushBook;
  readonly report: ReportTurn;
  readonly contentType: string;
}

/** Events that are read from the log at once. */
const PAGE_EVENTS = 50;

/** Why nothing more is sent to a receiver. Null: the delivery was stopped, and goes on after the next start. */
type End = Sent | 'vanished';

/**
 * Tells one receiver what becomes of a turn, one notification after the other. It reads the log and keeps nothing of what
 * happens meanwhile: the bus only says that there is more to read. How far the receiver was told is in the log, so after a
 * restart it goes on there. Each notification has the same id whenever it is sent.
 */
export class PushDelivery {
  readonly #stored: StoredPush;
  readonly #deps: DeliveryDeps;
  readonly #report: TurnReport;
  readonly #sending: PushSending;
  /** Whether there is more to read, and who waits for that. */
  #hasNews = false;
  #onNews: () => void = () => undefined;
  #isDeleted = false;
  /** Seq of the session that was read last. */
  #seq: number;
  /** Seq of the last event of the stream of this config; null if that is not known. */
  #streamSeq: number | null;

  constructor(stored: StoredPush, deps: DeliveryDeps) {
    const { push, seq } = stored;
    const { sessionId, turnId, client, afterSeq, head } = push;
    this.#stored = stored;
    this.#deps = deps;
    this.#sending = new PushSending(push.config, deps);
    this.#seq = afterSeq;
    this.#streamSeq = seq;
    const named = sessionNameFor(sessionId, client);
    this.#report = deps.report({ agentId: client.agent, sessionId: named, turnId, afterSeq, head });
  }

  /**
   * Resolves when nothing more is sent. Never rejects.
   * @param hasBegun the turn has begun, unless it is gone.
   */
  async run(hasBegun: boolean): Promise<End> {
    const { bus, book, log } = this.#deps;
    const { stream, push } = this.#stored;
    bus.onSession(push.sessionId, this);
    const end = await this.#deliver(hasBegun);
    bus.offSession(push.sessionId, this);
    if (end === null) return end;
    const about = { sessionId: push.sessionId, turnId: push.turnId, configId: push.config.id };
    if (end === 'unreachable' || end === 'forbidden')
      log.warn({ ...about, reason: end }, 'a receiver of push notifications is told nothing more');
    await book.erase(stream).catch((err: unknown) => {
      log.error({ ...about, err }, 'a config for push notifications could not be erased');
    });
    return end;
  }

  /** What is being sent is given up. */
  stop(): void {
    this.#sending.stop();
    this.#wake();
  }

  hear(signal: SessionSignal): void {
    if (!('event' in signal)) return;
    if (signal.event.type === 'session.deleted') {
      this.#isDeleted = true;
      this.stop();
    } else this.#wake();
  }

  async #deliver(hasBegun: boolean): Promise<End> {
    for (let failures = 0; ; ) {
      try {
        const end = await this.#toldAll();
        failures = 0;
        if (end !== undefined) return end;
        if (hasBegun && !this.#report.hasBegun) return 'vanished';
        await this.#news();
      } catch (err) {
        if (err instanceof StaleVersionError) return null;
        failures += 1;
        this.#deps.log.warn({ sessionId: this.#stored.push.sessionId, err }, 'a push notification waits');
        await this.#sending.pause(retryDelayMs(failures));
      }
    }
  }

  /** Tells all that the log has. Undefined: more may follow. */
  async #toldAll(): Promise<End | undefined> {
    const { bus } = this.#deps;
    const { sessionId } = this.#stored.push;
    for (;;) {
      if (this.#sending.isStopped) return this.#isDeleted ? 'vanished' : null;
      this.#hasNews = false;
      const asked = { sessionId, afterSeq: this.#seq, limit: PAGE_EVENTS };
      const page = await bus.send('session.events', asked, ANYONE);
      for (const envelope of page) {
        const end = await this.#tell(envelope);
        if (end !== 'told') return this.#isDeleted ? 'vanished' : end;
        if (this.#report.isOver) return 'told';
        this.#seq = envelope.seq;
      }
      if (page.length === 0) return undefined;
    }
  }

  /** Resolves at once if something has happened since the log was read. */
  async #news(): Promise<void> {
    if (this.#hasNews) return;
    await new Promise<void>((resolve) => {
      this.#onNews = resolve;
    });
  }

  #wake(): void {
    this.#hasNews = true;
    this.#onNews();
  }

  async #tell(envelope: Envelope): Promise<End> {
    const bodies = this.#report.take(envelope);
    if (bodies.length === 0 || envelope.seq <= this.#stored.upTo) return 'told';
    const { pushId } = this.#stored.push;
    for (const [index, body] of bodies.entries()) {
      const id = `msg_${pushId}_${envelope.seq}_${index}`;
      const { contentType } = this.#deps;
      const end = await this.#sending.send({ id, contentType, body: JSON.stringify(body) });
      if (end !== 'told') return end;
    }
    if (!this.#report.isOver) await this.#note(envelope.seq);
    return 'told';
  }

  /** Rejects with `StaleVersionError` if the config has ended on another node. A failure only makes the receiver hear it twice. */
  async #note(upTo: number): Promise<void> {
    const { book, log } = this.#deps;
    const { stream } = this.#stored;
    try {
      const seq = this.#streamSeq ?? (await book.read(stream))?.seq;
      // The config has ended, and its stream was erased.
      if (seq === undefined) throw new StaleVersionError(stream, upTo, 0);
      this.#streamSeq = null;
      await book.noteDelivered(stream, seq, upTo);
      this.#streamSeq = seq + 1;
    } catch (err) {
      if (err instanceof StaleVersionError) throw err;
      log.warn({ sessionId: this.#stored.push.sessionId, err }, 'a push notification may be sent twice');
    }
  }
}
