import type { CallId, SessionId } from '../../core/ids.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { PendingApproval } from '../../core/session/session-view.ts';
import { pendingApproval } from '../../core/session/view-session.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Journal } from './journal.ts';

/** A tool call that waits for approval, and when that began, in milliseconds since the epoch. */
export interface WaitingCall {
  readonly request: SessionEventOf<'approval.requested'>;
  readonly since: number;
}

interface ApprovalTimer {
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called when the time in which the call could be approved is over. */
  readonly onExpired: (request: WaitingCall['request']) => void;
}

/** The tool calls of one session that wait for approval. Each has a timer if its time is limited. */
export class WaitingApprovals {
  readonly #timer: ApprovalTimer;
  readonly #calls = new Map<CallId, WaitingCall & { readonly wait: unknown }>();

  constructor(timer: ApprovalTimer) {
    this.#timer = timer;
  }

  /** Oldest first. */
  get list(): PendingApproval[] {
    return [...this.#calls.values()].map(({ request, since }) => pendingApproval(request, since));
  }

  add({ request, since }: WaitingCall): void {
    const { clock, now, onExpired } = this.#timer;
    const { callId, expiresAfterMs } = request;
    const wait =
      expiresAfterMs === undefined
        ? null
        : clock.setTimeout(() => onExpired(request), Math.max(0, since + expiresAfterMs - now()));
    this.#calls.set(callId, { request, since, wait });
  }

  /** Forgets the calls that do not wait any more. */
  keep(awaiting: ReadonlyMap<CallId, unknown> | undefined): void {
    for (const callId of this.#calls.keys()) if (!awaiting?.has(callId)) this.#forget(callId);
  }

  /** Ends the timers. */
  stop(): void {
    this.keep(undefined);
  }

  #forget(callId: CallId): void {
    const { wait = null } = this.#calls.get(callId) ?? {};
    if (wait !== null) this.#timer.clock.clearTimeout(wait);
    this.#calls.delete(callId);
  }
}

const PAGE_EVENTS = 200;

/**
 * The calls that wait for approval in this state, oldest first. The state does not have the times, so they are read from
 * the end of the log, and only if a call waits.
 */
export async function waitingCalls(
  journal: Pick<Journal, 'read'>,
  sessionId: SessionId,
  { open, seq }: SessionState,
): Promise<WaitingCall[]> {
  const missing = new Set(open?.awaiting.keys());
  const found: WaitingCall[] = [];
  for (let end = seq; missing.size > 0 && end > 0; ) {
    const begin = Math.max(0, end - PAGE_EVENTS);
    for (const { event, time } of (await journal.read(sessionId, begin, end - begin)).toReversed())
      if (event.type === 'approval.requested' && missing.delete(event.callId))
        found.unshift({ request: event, since: time });
    end = begin;
  }
  return found;
}
