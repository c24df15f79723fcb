/** The clients of one schedule. */
export interface Cast {
  /** Readers, who go on until `stop`. @param staysMs how long a connection lasts, at most. */
  watch(staysMs: () => number): void;
  /** Each resolves when one user has done all. */
  work(): Promise<void>[];
  /** Whether nothing goes on, and all readers were told all. */
  isSettled(): boolean;
  /** What the readers have, for people. */
  describe(): string[];
  stop(): void;
  /** What is wrong with what happened. */
  check(): string[];
}
