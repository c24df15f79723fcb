import type { CallId, SessionId, TurnId } from './ids.ts';

/** A session in the list of all. Times are ISO 8601 UTC. */
export interface SessionListItem {
  readonly sessionId: SessionId;
  /** `busy` while a turn is open. */
  readonly status: 'idle' | 'busy';
  /** seq of the last event. */
  readonly head: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** One message of the conversation as the model reads it. */
export type HistoryEntry =
  | { readonly role: 'user'; readonly content: string; readonly image?: { mimeType: string; bytes: number } }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly {
        callId: string;
        name: string;
        arguments: Readonly<Record<string, unknown>>;
      }[];
      /** The text ends where the turn was cancelled or failed. */
      readonly cut?: 'cancelled' | 'failed';
    }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly content: string };

/** A tool call that waits until somebody approves or denies it. */
export interface PendingApproval {
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly toolName: string;
  readonly serverId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly argumentsHash: string;
}

/** A session at one moment. */
export interface SessionView extends SessionListItem {
  /** The moment: everything up to this seq. */
  readonly at: number;
  readonly turns: {
    readonly requested: number;
    readonly completed: number;
    readonly failed: number;
    readonly cancelled: number;
    readonly waiting: number;
  };
  readonly toolCalls: number;
  readonly openTurnId: string | null;
  readonly approvals: readonly PendingApproval[];
  readonly history: readonly HistoryEntry[];
}
