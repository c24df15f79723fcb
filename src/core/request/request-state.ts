import { type ErrorBody, type ErrorCode, ServiceError } from '../errors.ts';
import type { LoggedEvent } from '../log/events.ts';
import type { IdempotencyKey } from './request-events.ts';

type Outcome = { readonly answer: unknown } | { readonly error: ErrorBody };

/** What the log says of a request that came with an idempotency key. */
export interface RequestState {
  readonly key: IdempotencyKey;
  readonly repeatable: boolean;
  /** Missing while it runs, and when the service stopped before it ended. */
  readonly outcome?: Outcome;
}

export function evolveRequest(state: RequestState | undefined, event: LoggedEvent): RequestState {
  if (event.type === 'request.begun') return { key: event.key, repeatable: event.repeatable };
  if (state && event.type === 'request.answered') return { ...state, outcome: { answer: event.answer } };
  if (state && event.type === 'request.failed') return { ...state, outcome: { error: event.error } };
  throw new Error(`the stream of a request has an event ${event.type} where it cannot be`);
}

/** Throws the error that the request failed with. */
export function answerOf(outcome: Outcome): unknown {
  if ('error' in outcome) throw ServiceError.of(outcome.error);
  return outcome.answer;
}

/** Nothing was done, and the same may succeed later: a bad request, an unknown name, a full queue. */
export function isRefusal({ code }: ServiceError): boolean {
  return !failures.has(code);
}

/** Something was tried, and it failed. */
const failures: ReadonlySet<ErrorCode> = new Set(['TOOL_EXECUTION_FAILED', 'AGENT_ERROR', 'INTERNAL_ERROR']);
