import { levelOfFailure, ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';

interface FaultySession {
  readonly sessionId: SessionId;
  readonly state: SessionState;
}

/** Logs why a session leaves memory. */
export function logFault(log: Logger, { sessionId, state }: FaultySession, error: unknown): void {
  // Two nodes began the session at once. The other one answers the request.
  const isSecond = error instanceof StaleVersionError && state.seq === 0;
  if (isSecond) log.debug({ sessionId }, 'another node has begun the session first');
  else
    log[levelOfFailure(error)](
      { sessionId, turnId: state.open?.turnId, err: error },
      'a session was unloaded: its event could not be recorded',
    );
}

/** What those who wait for the running turn are told. @param continues whether the turn goes on by itself. */
export function turnFault(continues: boolean): ServiceError {
  return continues ? interrupted() : givenUp();
}

/** Not a refusal, even if the disk is full: the message is in the log, and would be answered twice if it were sent again. */
function interrupted(): ServiceError {
  const message =
    'The turn was interrupted: what came of it could not be recorded. It goes on by itself later.';
  return new ServiceError('INTERNAL_ERROR', message, { continues: true });
}

/** Stop after repeated faults; otherwise the turn would call the model for ever. */
function givenUp(): ServiceError {
  const message =
    'The turn was interrupted again and again: what came of it could not be recorded. It does not go on by itself.';
  const suggestion =
    'When the service can record again, send another message in this session: the turn goes on before it, and at the next start of the service, too.';
  return new ServiceError('INTERNAL_ERROR', message, { continues: false, suggestion });
}
