import type { CallId, SessionId } from '../../core/ids.ts';

/** No id of a session has it. */
const BEFORE_SESSION = '~';

/** The id of a call for clients that bring nothing but it when they answer: it also says in which session the call waits. */
export function callIdFor(callId: CallId, sessionId: SessionId): string {
  return callId + BEFORE_SESSION + sessionId;
}

/** Null if the id was not made by `callIdFor`. */
export function calledIn(id: string): { readonly callId: CallId; readonly sessionId: SessionId } | null {
  const at = id.lastIndexOf(BEFORE_SESSION);
  if (at < 1 || at === id.length - 1) return null;
  return { callId: id.slice(0, at), sessionId: id.slice(at + 1) };
}
