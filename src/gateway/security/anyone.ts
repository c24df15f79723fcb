import { ANYONE } from '../../core/request/request-context.ts';
import type { Authenticator } from '../../ports/authenticator.ts';

/** Lets every client in, without asking who it is. */
export const anyone: Authenticator = { authenticate: () => ANYONE };
