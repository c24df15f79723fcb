import type { MaxBytes } from '../../core/size-limits.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ServedRequest } from '../http/http-message.ts';
import type { FollowDeps } from '../stream/followed-session.ts';
import type { CardDeps } from './served-card.ts';

/** One call of an operation, by whatever binding it came. */
export interface A2aCall extends FollowDeps {
  readonly request: ServedRequest;
  readonly maxImageBytes: MaxBytes;
  readonly card: CardDeps;
  readonly authenticator: Pick<Authenticator, 'require'>;
  readonly log: Logger;
}
