import type { Image } from '../../../src/core/conversation/image.ts';
import { modelConversation } from '../../../src/core/conversation/model-conversation.ts';
import { cautionAfter } from '../../../src/core/conversation/refusals.ts';
import type { Refused } from '../../../src/core/conversation/refused.ts';
import { estimateTokens } from '../../../src/core/conversation/token-estimate.ts';
import { transcriptWindow } from '../../../src/core/conversation/transcript-window.ts';
import type { StepPart } from '../../../src/core/turn/reply-parts.ts';
import { SessionLog } from '../log/session-log.ts';
import type { Poison, RefusingProvider } from '../models/refusing-provider.ts';
import { completeStep } from '../models/steps.ts';

/** What the model answers in one step: words, or calls of tools with what those say. */
export interface PlannedStep {
  readonly calls: readonly { readonly name: string; readonly result: string }[];
  readonly opaque?: Readonly<Record<string, string>>;
}

export interface PlannedTurn {
  readonly text: string;
  readonly image?: Image;
  /** The last one calls no tool. */
  readonly steps: readonly PlannedStep[];
  /** What happens to it before the provider has answered, if anything. */
  readonly lost?: 'failed' | 'cancelled';
}

/** `poison` is what the refused request held, whatever the provider called it. */
export type TurnEnd =
  | { readonly type: 'answered' }
  | { readonly type: 'lost' }
  | { readonly type: 'refused'; readonly poison: Poison; readonly step: number };

/** A session in front of a provider that refuses, driven step by step as a turn is. */
export class RefusedSession {
  readonly log = new SessionLog();
  readonly #provider: RefusingProvider;
  readonly #historyTokens: number;
  readonly #naming: (poison: Poison) => Refused;
  #turns = 0;

  /** @param naming what the provider says that it refused. */
  constructor(
    provider: RefusingProvider,
    {
      historyTokens = 100_000,
      naming = (poison) => provider.refusalOf(poison),
    }: { historyTokens?: number; naming?: (poison: Poison) => Refused } = {},
  ) {
    this.#provider = provider;
    this.#historyTokens = historyTokens;
    this.#naming = naming;
  }

  /** What the model would be shown now. */
  get shown() {
    const { transcript, refusals } = this.log.state;
    const maxTokens = Math.min(this.#historyTokens, refusals.maxTokens ?? this.#historyTokens);
    const window = transcriptWindow(transcript, maxTokens);
    return modelConversation(window, { source: this.#provider.source, caution: cautionAfter(refusals) });
  }

  turn({ text, image, steps, lost }: PlannedTurn): TurnEnd {
    const turnId = `t${this.#turns}`;
    this.#turns += 1;
    this.log.tell({ type: 'turn.start', turnId, text, ...(image && { image }) });
    if (lost === 'cancelled') {
      this.log.tell({ type: 'turn.cancel', turnId, reason: 'enough', partial: '' });
      return { type: 'lost' };
    }
    if (lost === 'failed') {
      this.#fail(turnId, { reason: 'overloaded' });
      return { type: 'lost' };
    }
    for (const [index, step] of steps.entries()) {
      const { shown } = this;
      const poison = this.#provider.poisonIn(shown);
      if (poison !== null) {
        const refused = this.#naming(poison);
        const shownTokens = shown.reduce((sum, message) => sum + estimateTokens(message), 0);
        this.#fail(turnId, { reason: 'refused', refused, ...(refused === 'context' && { shownTokens }) });
        return { type: 'refused', poison, step: index + 1 };
      }
      this.#answer(turnId, index + 1, step);
    }
    return { type: 'answered' };
  }

  #fail(turnId: string, details: Record<string, unknown>): void {
    this.log.tell({
      type: 'turn.fail',
      turnId,
      cause: { kind: 'model' },
      error: { code: 'AGENT_ERROR', message: 'No.', details },
      partial: '',
    });
  }

  #answer(turnId: string, step: number, { calls, opaque }: PlannedStep): void {
    const requested = calls.map(({ name }, index) => ({
      callId: `${turnId}-${step}-${index}`,
      name,
      toolName: name,
      serverId: 'srv',
      arguments: {},
      repeatable: false,
      policy: 'auto' as const,
      argumentsHash: 'a'.repeat(64),
    }));
    const parts: StepPart[] = [
      ...(opaque ? [{ type: 'opaque' as const, data: opaque }] : []),
      ...(calls.length === 0 ? [{ type: 'text' as const, text: `re: ${turnId}` }] : []),
      ...requested.map(({ callId }) => ({ type: 'toolCall' as const, callId })),
    ];
    const { source } = this.#provider;
    this.log.tell(completeStep({ turnId, step, parts, calls: requested, source }));
    for (const [index, { callId }] of requested.entries()) {
      const content = [{ type: 'text', text: calls[index]?.result ?? '' }];
      const outcome = { status: 'succeeded', result: { content } } as const;
      this.log.tell({ type: 'tool-call.settle', turnId, callId, outcome });
    }
  }
}
