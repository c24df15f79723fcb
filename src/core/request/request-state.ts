import { type ErrorBody, type ErrorCode, ServiceError } from '../errors.ts';
import type { LoggedEvent } from '../log/events.ts';
import type { IdempotencyKey } from './request-events.ts';

type Outcome = { readonly answer: unknown } | { readonly error: ErrorBody };

/** The state of a request with an idempotency key, folded from its stream. */
export interface RequestState {
  readonly key: IdempotencyKey;
  readonly repeatable: boolean;
  /** Which node of a cluster has begun it, if that is known. */
  readonly node?: number | undefined;
  /** Absent while the request runs, and if the service stopped before its end. */
  readonly outcome?: Outcome;
}

export function evolveRequest(state: RequestState | undefined, event: LoggedEvent): RequestState {
  if (event.type === 'request.begun')
    return { key: event.key, repeatable: event.repeatable, node: event.node };
  if (state && event.type === 'request.answered') return { ...state, outcome: { answer: event.answer } };
  if (state && event.type === 'request.failed') return { ...state, outcome: { error: event.error } };
  throw new Error(`the stream of a request has an event ${event.type} where it cannot be`);
}

/** Returns the recorded answer, or throws the recorded error. */
export function answerOf(outcome: Outcome): unknown {
  if ('error' in outcome) throw ServiceError.of(outcome.error);
  return outcome.answer;
}

/** Whether nothing was done, so that the request may be sent again: a bad request, an unknown name, a full queue. */
export function leavesKeyFree({ code }: ServiceError): boolean {
  return !failures.has(code);
}

/** The codes of requests that were executed and failed. */
const failures: ReadonlySet<ErrorCode> = new Set(['TOOL_EXECUTION_FAILED', 'AGENT_ERROR', 'INTERNAL_ERROR']);
