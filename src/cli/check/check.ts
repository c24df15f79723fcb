import type { TokenUsage } from '../../core/turn/reply-parts.ts';

export type CheckName =
  | 'provider'
  | 'model'
  | 'streaming'
  | 'tool call'
  | 'tool result'
  | 'image'
  | 'settings';

/** `unknown`: it could not be tested, or there was nothing to test. */
export type Finding = 'yes' | 'no' | 'unknown';

/** The times and tokens of one request. */
export interface RequestFacts {
  /** Null if no text came, as in a reply that only calls a tool. */
  readonly firstPieceMs: number | null;
  readonly totalMs: number;
  /** Null if the provider does not report it. */
  readonly usage: TokenUsage | null;
}

/** The result for one ability of the model or one part of its configuration. */
export interface Check {
  readonly name: CheckName;
  readonly finding: Finding;
  /** The result in words. */
  readonly outcome: string;
  /** What to change. */
  readonly advice?: string;
  /** Set if the agent cannot work like this. A missing ability of the model is not a failure. */
  readonly isFailure?: true;
  /** The request that tested it. */
  readonly request?: RequestFacts;
  /** Details of the error that the request ended with. */
  readonly error?: Readonly<Record<string, unknown>>;
}
