import { ServiceError } from '../../../core/errors.ts';

/** Of a read that failed: null where the session is not there. A session of somebody else is one that is not there. */
export function ifNoSession(thrown: unknown): null {
  if (thrown instanceof ServiceError && thrown.code === 'SESSION_NOT_FOUND') return null;
  throw thrown;
}
