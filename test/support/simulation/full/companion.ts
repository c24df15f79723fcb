/** Somebody beside the users of the sessions. */
export interface Companion {
  /** Resolves when it has done all that it wanted. */
  work(): Promise<void>;
  /** Whether it was told all, and all nodes say what it did. */
  isSettled(): boolean;
  /** What it has, for people. */
  describe(): string;
  stop(): void;
  /** What is wrong with what happened. */
  check(): string[];
}
