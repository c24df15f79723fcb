import type { Fork } from '../../../../src/core/session/session-answers.ts';

/** A message, and the turns as which it was acknowledged. */
export interface Message {
  readonly sessionId: string;
  readonly content: string;
  readonly turnIds: Set<string>;
  /** Whether the user was told that nothing was recorded. */
  isRefused: boolean;
}

/** A command that changes a session. */
export interface Command {
  readonly type: 'cancel' | 'reset' | 'delete' | 'rename';
  readonly sessionId: string;
  /** Null: it was sent once, without a key. */
  readonly key: string | null;
  readonly askedAt: number;
  /** Null: no node has said that it is done. */
  doneAt: number | null;
}

export interface ForkDeed {
  readonly from: string;
  readonly to: string;
  readonly askedAt: number;
  /** What nodes have answered. */
  readonly answers: Fork[];
}

/** What the users have done, as far as they know. */
export class Deeds {
  readonly messages: Message[] = [];
  readonly commands: Command[] = [];
  readonly forks: ForkDeed[] = [];
}
