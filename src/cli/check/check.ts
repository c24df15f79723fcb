import type { TokenUsage } from '../../core/turn/reply-parts.ts';

export type CheckName =
  | 'provider'
  | 'model'
  | 'streaming'
  | 'tool call'
  | 'tool result'
  | 'image'
  | 'settings';

/** `unknown` where it could not be found out, or nothing was to be found out. */
export type Finding = 'yes' | 'no' | 'unknown';

/** What one request took. */
export interface RequestFacts {
  /** Null when no text was heard, as in a reply that only calls a tool. */
  readonly firstPieceMs: number | null;
  readonly totalMs: number;
  /** Null when the provider does not tell. */
  readonly usage: TokenUsage | null;
}

/** One thing that was looked at. */
export interface Check {
  readonly name: CheckName;
  readonly finding: Finding;
  /** What was seen, for people. */
  readonly outcome: string;
  /** What to change, where something can be. */
  readonly advice?: string;
  /** The agent does not work like this. What a model merely cannot do is no failure. */
  readonly isFailure?: true;
  /** The request that was made for it. */
  readonly request?: RequestFacts;
  /** Details of the error that the request ended with. */
  readonly error?: Readonly<Record<string, unknown>>;
}
