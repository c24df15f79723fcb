import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../ports/logger.ts';
import { KEY_BYTES, parseSecretKey, type SecretKey } from './secret-key.ts';

const READABLE_BY_OTHERS = 0o077;

/** The key in the data directory. It is created when the first secret is stored. */
export class KeyFile {
  readonly path: string;
  readonly #directory: string;
  readonly #log: Logger;
  #key: Promise<SecretKey | undefined> | undefined;

  constructor(directory: string, log: Logger) {
    this.#directory = directory;
    this.path = join(directory, 'secret.key');
    this.#log = log;
  }

  /** @returns undefined when there is no file. Rejects when the file contains no key. */
  read(): Promise<SecretKey | undefined> {
    this.#key ??= this.#read();
    return this.#key;
  }

  /** Creates a key. Resolves when it is on disk, because secrets that it seals cannot be opened without it. */
  async make(): Promise<SecretKey> {
    const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
    // Written under another name first, so that a crash leaves no incomplete key file.
    const partial = `${this.path}.new`;
    // Where the log is in a database, nobody has made the folder yet.
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const file = await open(partial, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, this.path);
    await this.#syncDirectory();
    this.#key = this.#read();
    const key = await this.#key;
    if (key === undefined) throw new Error(`${this.path} disappeared right after it was created`);
    return key;
  }

  async #read(): Promise<SecretKey | undefined> {
    const text = await readFile(this.path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    await this.#keepPrivate();
    const key = parseSecretKey(text);
    if (key) return key;
    throw new Error(
      `${this.path} is not a key of agent-service: it should be 32 bytes in base64; put the right file back`,
    );
  }

  async #keepPrivate(): Promise<void> {
    if (process.platform === 'win32') return;
    const { mode } = await stat(this.path);
    if ((mode & READABLE_BY_OTHERS) === 0) return;
    await chmod(this.path, 0o600);
    this.#log.warn(
      { file: this.path },
      'other users of this machine could read the key of the secrets; its mode is now 0600',
    );
  }

  /** Makes the rename durable. Windows cannot open directories and does not need this. */
  async #syncDirectory(): Promise<void> {
    if (process.platform === 'win32') return;
    const directory = await open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}
