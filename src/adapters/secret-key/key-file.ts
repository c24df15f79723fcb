import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../ports/logger.ts';
import { KEY_BYTES, parseSecretKey, type SecretKey } from './secret-key.ts';

const READABLE_BY_OTHERS = 0o077;

/** The key in the data directory. It is created when the first secret is stored. */
export class KeyFile {
  readonly path: string;
  readonly #directory: string;
  readonly #log: Logger;
  #key: SecretKey | undefined;
  #ready: Promise<SecretKey> | undefined;

  constructor(directory: string, log: Logger) {
    this.#directory = directory;
    this.path = join(directory, 'secret.key');
    this.#log = log;
  }

  /** @returns undefined when there is no file. Rejects when the file contains no key. */
  async read(): Promise<SecretKey | undefined> {
    this.#key ??= await this.#read();
    return this.#key;
  }

  /**
   * Reads the key, or creates it when there is none. All who ask get the same key, however many ask at once and in
   * however many processes: what is sealed with a key that another one replaced could never be opened again.
   */
  readOrMake(): Promise<SecretKey> {
    this.#ready ??= this.#readOrMake().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #readOrMake(): Promise<SecretKey> {
    return (await this.read()) ?? this.#make();
  }

  /** Resolves when the key is on disk, because secrets that it seals cannot be opened without it. */
  async #make(): Promise<SecretKey> {
    // Where the log is in a database, nobody has made the folder yet.
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    // Written under a name of its own first, so that a crash leaves no incomplete key file.
    const partial = `${this.path}.${randomBytes(6).toString('hex')}.new`;
    try {
      await this.#write(partial);
      await this.#publish(partial);
    } finally {
      await rm(partial, { force: true });
    }
    await this.#syncDirectory();
    const key = await this.read();
    if (key === undefined) throw new Error(`${this.path} disappeared right after it was created`);
    return key;
  }

  async #write(path: string): Promise<void> {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(`${randomBytes(KEY_BYTES).toString('base64')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Gives the file its name. A link, unlike a rename, never replaces the key that another process has just made. */
  async #publish(partial: string): Promise<void> {
    await link(partial, this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
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

  /** Makes the new name durable. Windows cannot open directories and does not need this. */
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
