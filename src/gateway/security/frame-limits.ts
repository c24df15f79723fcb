import type { LimitsConfig } from '../../config/schema/agent-config.ts';
import { ServiceError } from '../../core/errors.ts';
import { limitExceeded } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { checkMessageSize } from '../requests/message-size.ts';
import type { ClientLimits } from './client-limits.ts';
import type { RateLimits } from './rate-limits.ts';

export interface FrameLimitsDeps {
  readonly limits: Pick<RateLimits, 'messages'>;
  /** Absent where nobody is authenticated. */
  readonly clientLimits?: ClientLimits | undefined;
  readonly maxRequestBytes: LimitsConfig['requestBytes'];
}

/** How many frames one socket may send, and how large they may be. */
export class FrameLimits {
  readonly #deps: FrameLimitsDeps;
  readonly #imagesLength: ((frame: unknown) => number) | undefined;
  /** Key of the message limit. */
  readonly #id = crypto.randomUUID();

  /** @param imagesLength of a frame, as `checkMessageSize` takes it. */
  constructor(deps: FrameLimitsDeps, imagesLength?: (frame: unknown) => number) {
    this.#deps = deps;
    this.#imagesLength = imagesLength;
  }

  /** Counts a frame. Rejects if it is one too many, too large, or binary. @returns its text. */
  async admit(context: RequestContext, text: string | null, bytes: number): Promise<string> {
    const { limits, clientLimits, maxRequestBytes } = this.#deps;
    const allowance = limits.messages.take(this.#id);
    if (allowance?.exceeded)
      throw limitExceeded(`${allowance.limit} messages per minute and connection`, allowance);
    const counted = clientLimits?.request(context);
    if (counted?.refusal) throw counted.refusal;
    checkMessageSize(text ?? '', bytes, maxRequestBytes, this.#imagesLength);
    if (text !== null) return text;
    throw new ServiceError('INVALID_REQUEST', 'Binary frames are not accepted.', {
      issue: 'the frame is binary',
      suggestion: 'Send a text frame with a JSON object.',
    });
  }

  /** The socket is closed. */
  forget(): void {
    this.#deps.limits.messages.forget(this.#id);
  }
}
