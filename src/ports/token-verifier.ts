import type { Identity } from '../core/access/identity.ts';

/** Knows one kind of bearer token. */
export interface TokenVerifier {
  /** What the names of its principals begin with: `key:`. */
  readonly principals: readonly string[];
  /** Whether the token looks like one of this kind. Costs next to nothing. */
  recognizes(token: string): boolean;
  /**
   * Throws, or rejects with, `UNAUTHORIZED` for a token that is not valid. The error says what is wrong, and holds
   * nothing of the token. Answers without a promise where it can.
   */
  verify(token: string): Identity | Promise<Identity>;
  /** What is guessed at with a token that was refused: the public id of a key. Null if it says none. */
  subjectOf(token: string): string | null;
}
