/** Encrypts secrets for the log with a key that is kept outside of the log. */
export interface SecretBox {
  /**
   * @param about names what the text belongs to. `open` succeeds only with the same value.
   * @returns printable text that contains the fingerprint of the key.
   */
  seal(text: string, about: string): Promise<string>;

  /** Rejects with `SealedError` if the key is missing or the sealed text is damaged. */
  open(sealed: string, about: string): Promise<string>;

  /** Whether `seal` would use another key now. Resolves to false if the text cannot be opened. */
  isOutdated(sealed: string): Promise<boolean>;
}

/** A secret cannot be decrypted. The message says why and what to do, and contains no part of the secret. */
export class SealedError extends Error {
  override readonly name = 'SealedError';
}
