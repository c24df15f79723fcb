import { ServiceError } from '../../core/errors.ts';
import type { Unsubscribe } from '../../ports/bus.ts';

/**
 * Hears of changes, or of none if the client lacks the scope for it: a connection hears of lists and resources without
 * asking for it, and may be there for something else.
 */
export function ifAllowed(listen: () => Unsubscribe): Unsubscribe {
  try {
    return listen();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'FORBIDDEN') return () => undefined;
    throw error;
  }
}
