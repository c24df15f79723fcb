import type { ErrorBody } from '../errors.ts';
import type { FinishReason } from './reply-parts.ts';

/** How a turn ended. */
export type TurnOutcome =
  | { readonly status: 'completed'; readonly content: string; readonly finishReason?: FinishReason }
  | { readonly status: 'failed'; readonly error: ErrorBody }
  | { readonly status: 'cancelled'; readonly reason: string };
