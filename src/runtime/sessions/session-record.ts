import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import {
  EMPTY_SESSION_BYTES,
  keyBytes,
  keysBytes,
  messagesBytes,
  sentBytes,
} from '../../core/session/retained-bytes.ts';
import { evolve, type SessionState } from '../../core/session/session-state.ts';
import { evolveTitle, shownTitle } from '../../core/session/session-title.ts';
import type { AppendOptions, SessionMark } from '../../ports/event-store.ts';
import { CausingEvents } from '../turns/causing-events.ts';
import type { Journal } from './journal.ts';
import type { FoldedSession } from './session-fold.ts';
import type { Grown } from './session-snapshots.ts';

/**
 * Where the state comes from. `log`: a fold of the log. `new`: it is empty, because the log certainly has no such session.
 * `presumed new`: it is empty, because the log probably has none. The first append may then be refused.
 */
export type StateBasis = 'log' | 'new' | 'presumed new';

export interface RecordDeps {
  readonly journal: Pick<Journal, 'append' | 'publish'>;
  /** Called after events were folded into the state. */
  readonly onGrown: Grown;
}

/** A session in the log, and folded in memory. Only one append may be under way. */
export class SessionRecord {
  readonly #sessionId: SessionId;
  readonly #deps: RecordDeps;
  #state: SessionState;
  #bytes: number;
  #basis: StateBasis;
  /** The events that effects of the running turn follow from. */
  readonly causes: CausingEvents;

  constructor(
    sessionId: SessionId,
    { state, last }: Pick<FoldedSession, 'state' | 'last'>,
    deps: RecordDeps,
    basis: StateBasis,
  ) {
    this.#sessionId = sessionId;
    this.#deps = deps;
    this.#state = state;
    this.#bytes = retainedBytes(state);
    this.#basis = basis;
    this.causes = new CausingEvents(last);
  }

  /** All events, folded. Read only. */
  get state(): SessionState {
    return this.#state;
  }

  /** About how much memory the session takes. */
  get bytes(): number {
    return this.#state.waiting.reduce((sum, turn) => sum + sentBytes(turn), this.#bytes);
  }

  /** Whether the log has shown that it agrees with the state. */
  get isConfirmed(): boolean {
    return this.#basis === 'log';
  }

  /** Whether the log certainly agrees with the state. */
  get isCertain(): boolean {
    return this.#basis !== 'presumed new';
  }

  /**
   * Resolves to what is in the log. Then call `take` with the envelopes of the events, and with those of an addendum.
   * Rejects with a `StaleVersionError` if a session that was presumed new exists.
   */
  append(
    events: readonly SessionEvent[],
    mark: Pick<SessionMark, 'open'> & Pick<AppendOptions, 'addendum'> & { readonly origin: Origin },
  ): Promise<Envelope[]> {
    const options = { ...mark, ...newTitle(this.#state, events) };
    return this.#deps.journal.append(this.#sessionId, this.#state.seq, events, options);
  }

  /** Publishes durable events, and folds them in. */
  take(appended: readonly Envelope[]): void {
    const { journal, onGrown } = this.#deps;
    this.#basis = 'log';
    const messagesBefore = this.#state.transcript.length;
    journal.publish(appended);
    this.causes.note(appended);
    for (const { event } of appended) this.#state = evolve(this.#state, event);
    this.#count(appended, messagesBefore);
    const last = appended.at(-1);
    if (last) onGrown(this.#state, last);
  }

  #count(appended: readonly Envelope[], messagesBefore: number): void {
    const events = appended.map(({ event }) => event);
    if (events.some(({ type }) => type === 'session.reset')) {
      this.#bytes = retainedBytes(this.#state);
      return;
    }
    this.#bytes += messagesBytes(this.#state.transcript.slice(messagesBefore));
    for (const event of events) this.#bytes += keyBytes(event);
  }
}

function retainedBytes({ transcript, keys }: SessionState): number {
  return EMPTY_SESSION_BYTES + messagesBytes(transcript) + keysBytes(keys);
}

/** The title of the session, if these events change it. */
function newTitle({ title }: SessionState, events: readonly SessionEvent[]): Pick<SessionMark, 'title'> {
  const after = events.reduce(evolveTitle, title);
  return after === title ? {} : { title: shownTitle(after) };
}
