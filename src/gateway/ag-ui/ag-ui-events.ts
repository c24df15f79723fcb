import type { ErrorBody } from '../../core/errors.ts';
import type { PendingApproval, PendingInput } from '../../core/session/session-view.ts';
import { errorText } from '../requests/error-text.ts';
import type { Content } from './run-input.ts';

/* The events of AG-UI 1.0 that a run consists of. */

/** The version of the protocol. */
export const PROTOCOL_VERSION = '1.0';

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of a thread, as a snapshot has it. */
export type ThreadMessage =
  | { readonly id: string; readonly role: 'user'; readonly content: Content }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | { readonly id: string; readonly role: 'tool'; readonly toolCallId: string; readonly content: Content }
  | { readonly id: string; readonly role: 'reasoning'; readonly content: string };

/** What the state of a run says of its session, as `session`. */
export interface AgUiSession {
  readonly id: string;
  /** The turn that the run is of; null if it is of none. */
  readonly turnId: string | null;
  /** `waiting`: for an approval, for an answer to a question, or for the client. */
  readonly status: 'queued' | 'running' | 'waiting' | 'idle';
  /** The seq of the last event of the session that the run has told of. */
  readonly head: number;
  readonly approvals: readonly PendingApproval[];
  readonly inputs: readonly PendingInput[];
}

export interface Interrupt {
  readonly id: string;
  readonly reason: 'approval' | 'input_required';
  readonly message: string;
  readonly toolCallId: string;
  readonly responseSchema: object;
  readonly expiresAt?: string;
  readonly metadata: object;
}

export interface RunTokens {
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

type Outcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: 'interrupt'; readonly interrupts: readonly Interrupt[] }
  | { readonly type: 'cancelled' };

interface Patch {
  readonly op: 'replace';
  readonly path: string;
  readonly value: unknown;
}

type MessageEvent<T extends string, More = unknown> = {
  readonly type: T;
  readonly messageId: string;
} & More;

export type AgUiEvent =
  | {
      readonly type: 'RUN_STARTED';
      readonly threadId: string;
      readonly runId: string;
      readonly parentRunId?: string;
      readonly protocolVersion: typeof PROTOCOL_VERSION;
    }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: Outcome;
      readonly usage?: readonly RunTokens[];
      readonly metadata?: object;
    }
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code: string;
      readonly usage?: readonly RunTokens[];
      readonly metadata?: object;
    }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | MessageEvent<'TEXT_MESSAGE_START', { readonly role: 'assistant' }>
  | MessageEvent<'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT', { readonly delta: string }>
  | MessageEvent<'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END'>
  | MessageEvent<'REASONING_MESSAGE_START', { readonly role: 'reasoning' }>
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | MessageEvent<
      'TOOL_CALL_RESULT',
      { readonly toolCallId: string; readonly role: 'tool'; readonly content: Content }
    >
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: object }
  | { readonly type: 'STATE_DELTA'; readonly delta: readonly Patch[] }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly object[] }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown };

/** Ends a run. */
export function runError(error: ErrorBody): Extract<AgUiEvent, { type: 'RUN_ERROR' }> {
  const { code, details } = error;
  return { type: 'RUN_ERROR', message: errorText(error), code, metadata: { details } };
}

export function encodeEvent(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
