import type { AssistantMessage, ModelMessage } from '../../../src/core/conversation/model-message.ts';
import type { SessionEventOf } from '../../../src/core/log/events.ts';
import type { RequestedCall } from '../../../src/core/tool-call/tool-call-commands.ts';
import type { FinishReason, ModelSource, StepPart, TokenUsage } from '../../../src/core/turn/reply-parts.ts';
import { callIdsOf, spokenText } from '../../../src/core/turn/step-parts.ts';
import type { CompleteStep } from '../../../src/core/turn/turn-commands.ts';

/** A text and then tool calls, as most replies have them. An empty text is no part. */
export function stepParts(text: string, ...callIds: string[]): StepPart[] {
  const calls = callIds.map((callId) => ({ type: 'toolCall', callId }) as const);
  return text === '' ? calls : [{ type: 'text', text }, ...calls];
}

interface Told {
  readonly source?: ModelSource | null;
  readonly finishReason?: FinishReason;
  readonly usage?: TokenUsage;
}

interface Completed extends Told {
  readonly turnId: string;
  readonly step?: number;
  readonly text?: string;
  readonly calls?: readonly RequestedCall[];
  /** In place of the text and the calls in their order. */
  readonly parts?: readonly StepPart[];
  readonly outputIssue?: string;
}

/** What a model has answered, as the session is told of it. */
export function completeStep({ turnId, step = 1, text = '', calls = [], ...more }: Completed): CompleteStep {
  const parts = stepParts(text, ...calls.map(({ callId }) => callId));
  return { type: 'step.complete', turnId, step, parts, calls, source: null, ...more };
}

interface Recorded extends Told {
  readonly turnId: string;
  readonly step?: number;
  readonly text?: string;
  readonly separator?: string;
  readonly callIds?: readonly string[];
}

/** The same, as the log has it. */
export function stepCompleted(step: Recorded): SessionEventOf<'step.completed'> {
  const { turnId, step: number = 1, text = '', separator = '', callIds = [], ...more } = step;
  const parts = stepParts(text, ...callIds);
  return { type: 'step.completed', turnId, step: number, parts, separator, source: null, ...more };
}

/** What the model has said, as it is shown it again. */
export function said(text: string): AssistantMessage {
  return { role: 'assistant', parts: [{ type: 'text', text }] };
}

/** Stands before a message of the user where a turn ended with the result of a tool. */
export const NO_REPLY = said('[no reply: this turn ended here]');

/** All that can be read of a message. */
export function textOf(message: ModelMessage): string {
  return message.role === 'assistant' ? spokenText(message.parts) : message.text;
}

/** The calls that a message asks for, of whatever role it is. */
export function callIdsIn(message: ModelMessage): string[] {
  return message.role === 'assistant' ? callIdsOf(message.parts) : [];
}
