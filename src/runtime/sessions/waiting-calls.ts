import type { SessionId } from '../../core/ids.ts';
import type { SessionEvent, SessionEventOf } from '../../core/log/events.ts';
import type { SessionCommand } from '../../core/session/session-commands.ts';
import type { OpenTurn, SessionState } from '../../core/session/session-state.ts';
import type { ClientCall, PendingApproval, PendingInput } from '../../core/session/session-view.ts';
import { clientCall, pendingApproval, pendingInput } from '../../core/session/view-session.ts';
import { MAX_TIMEOUT_MS } from '../../core/timeout-ms.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Journal } from './journal.ts';

/** What a tool call waits for: somebody's approval, the client that lent the tool, or an answer for its server. */
type WaitRequest = SessionEventOf<'approval.requested' | 'tool-call.delegated' | 'input.requested'>;

/** A tool call that waits for somebody, and when that began, in milliseconds since the epoch. */
export interface WaitingCall {
  readonly request: WaitRequest;
  readonly since: number;
}

interface WaitTimer {
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called when nobody has answered in time. */
  readonly onExpired: (request: WaitRequest) => void;
}

/** The tool calls of one session that wait for somebody. Each has a timer if its time is limited. */
export class WaitingCalls {
  readonly #timer: WaitTimer;
  /** By the id of the question, or else of the call. */
  readonly #calls = new Map<string, WaitingCall & { readonly wait: unknown }>();

  constructor(timer: WaitTimer) {
    this.#timer = timer;
  }

  /** The calls that wait for approval, oldest first. */
  get approvals(): PendingApproval[] {
    return pendingApprovals([...this.#calls.values()]);
  }

  /** What tool servers ask, oldest first. */
  get inputs(): PendingInput[] {
    return pendingInputs([...this.#calls.values()]);
  }

  add({ request, since }: WaitingCall): void {
    const { clock, now, onExpired } = this.#timer;
    const { expiresAfterMs } = request;
    const wait =
      expiresAfterMs === undefined
        ? null
        : clock.setTimeout(() => onExpired(request), msLeft(expiresAfterMs, since, now()));
    this.#calls.set(waitId(request), { request, since, wait });
  }

  /** Forgets the calls that do not wait any more. */
  keep(open: OpenTurn | null): void {
    for (const id of this.#calls.keys())
      if (!open?.awaiting.has(id) && !open?.delegated.has(id) && !open?.asked?.has(id)) this.#forget(id);
  }

  /** Ends the timers. */
  stop(): void {
    this.keep(null);
  }

  #forget(id: string): void {
    const { wait = null } = this.#calls.get(id) ?? {};
    if (wait !== null) this.#timer.clock.clearTimeout(wait);
    this.#calls.delete(id);
  }
}

/** The remaining time in milliseconds: at most the whole time, if the clock was set back, and at most what a timer can wait. */
function msLeft(expiresAfterMs: number, since: number, now: number): number {
  const left = Math.max(0, since + expiresAfterMs - now);
  return Math.min(left, expiresAfterMs, MAX_TIMEOUT_MS);
}

export function pendingApprovals(calls: readonly WaitingCall[]): PendingApproval[] {
  return calls.flatMap(({ request, since }) =>
    request.type === 'approval.requested' ? [pendingApproval(request, since)] : [],
  );
}

export function clientCalls(calls: readonly WaitingCall[]): ClientCall[] {
  return calls.flatMap(({ request, since }) =>
    request.type === 'tool-call.delegated' ? [clientCall(request, since)] : [],
  );
}

export function pendingInputs(calls: readonly WaitingCall[]): PendingInput[] {
  return calls.flatMap(({ request, since }) =>
    request.type === 'input.requested' ? [pendingInput(request, since)] : [],
  );
}

/** The command to give when nobody has answered in time. */
export function expiryOf(request: WaitRequest): SessionCommand {
  const { turnId, callId } = request;
  switch (request.type) {
    case 'approval.requested':
      return { type: 'approval.expire', turnId, callId };
    case 'tool-call.delegated':
      return { type: 'tool-call.expire', turnId, callId };
    case 'input.requested':
      return { type: 'input.expire', turnId, inputId: request.inputId };
    default:
      return request satisfies never;
  }
}

function waitId(request: WaitRequest): string {
  return request.type === 'input.requested' ? request.inputId : request.callId;
}

const PAGE_EVENTS = 50;

/**
 * The calls that wait for somebody in this state, oldest first. The state does not have the times, so they are read from
 * the end of the log, and only if a call waits.
 */
export async function waitingCalls(
  journal: Pick<Journal, 'read'>,
  sessionId: SessionId,
  { open, seq }: SessionState,
): Promise<WaitingCall[]> {
  const missing = new Set([
    ...(open?.awaiting.keys() ?? []),
    ...(open?.delegated.keys() ?? []),
    ...(open?.asked?.keys() ?? []),
  ]);
  const found: WaitingCall[] = [];
  for (let end = seq; missing.size > 0 && end > 0; ) {
    const begin = Math.max(0, end - PAGE_EVENTS);
    for (const { event, time } of (await journal.read(sessionId, begin, end - begin)).toReversed())
      if (isWaitRequest(event) && missing.delete(waitId(event)))
        found.unshift({ request: event, since: time });
    end = begin;
  }
  return found;
}

export function isWaitRequest(event: SessionEvent): event is WaitRequest {
  return (
    event.type === 'approval.requested' ||
    event.type === 'tool-call.delegated' ||
    event.type === 'input.requested'
  );
}
