/** Seals what the log must not hold in clear, with a key that is kept outside of the log. */
export interface SecretBox {
  /**
   * @param about what the text belongs to: the seal opens for nothing else.
   * @returns printable text, which names the key by its fingerprint.
   */
  seal(text: string, about: string): Promise<string>;

  /** Rejects with `SealedError` when the key of the seal is not at hand, or when the seal is not whole. */
  open(sealed: string, about: string): Promise<string>;

  /** Whether `seal` would use another key today. Resolves to false for what cannot be opened. */
  isOutdated(sealed: string): Promise<boolean>;
}

/** A secret cannot be read. The message says why and what to do, and holds nothing of it. */
export class SealedError extends Error {
  override readonly name = 'SealedError';
}
