import { ANYONE } from '../../core/request/request-context.ts';
import type { Authenticator } from '../../ports/authenticator.ts';

/** Accepts every client, without authentication. */
export const anyone: Authenticator = { authenticate: () => ANYONE };
