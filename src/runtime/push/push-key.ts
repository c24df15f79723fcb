import type { PublicKey, PushKeys, PushSigner } from '../../ports/push-signer.ts';
import type { PushBook } from './push-book.ts';

/** The key that signs the notifications of an agent. It is made for the first one and kept, so that receivers can rely on it. */
export class PushKey {
  readonly #book: PushBook;
  readonly #keys: PushKeys;
  #signer: PushSigner | null = null;

  constructor(book: PushBook, keys: PushKeys) {
    this.#book = book;
    this.#keys = keys;
  }

  /** Rejects with `SealedError` when the key was encrypted with one that is gone. */
  async signer(): Promise<PushSigner> {
    this.#signer ??= this.#keys.signer(await this.#book.keepKey(() => this.#keys.create()));
    return this.#signer;
  }

  /** What receivers check signatures with. */
  async published(): Promise<readonly PublicKey[]> {
    if (this.#signer) return [this.#signer.publicKey];
    const kept = await this.#book.key();
    return kept === null ? [] : [this.#keys.signer(kept).publicKey];
  }
}
