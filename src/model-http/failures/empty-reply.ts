import type { ReasoningPart } from '../../core/turn/reply-parts.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';
import { ModelFailure } from './model-failure.ts';

/** The model ended its reply by itself, with neither text nor a tool call. The same request may be answered a moment later. */
export class EmptyReply extends ModelFailure {
  /** What the listener was told nevertheless. */
  readonly thoughts: readonly ReasoningPart[];

  constructor(access: ProviderEndpoint, thoughts: readonly ReasoningPart[]) {
    const reason = `${access.label} sent an empty reply: neither text nor a tool call. Try again.`;
    super(access, reason, { isPassing: true });
    this.thoughts = thoughts;
  }
}
