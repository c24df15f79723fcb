import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What lives as long as one bench: whatever it opens is closed at its end, the last one first. */
export class Scope {
  /** A smoke of a few seconds instead of a measurement. */
  readonly quick: boolean;
  /** Where the service leaves its CPU profiles, if anybody wants them. */
  readonly profiles: string | undefined;
  readonly #closers: (() => unknown)[] = [];
  readonly #folders: string[] = [];
  readonly #removeFolders = (): void => {
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };

  constructor({ quick, profiles }: { quick: boolean; profiles?: string | undefined }) {
    this.quick = quick;
    this.profiles = profiles;
    // However this process ends, nothing of it stays behind.
    process.once('exit', this.#removeFolders);
  }

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** An empty folder. */
  directory(): string {
    const directory = mkdtempSync(join(tmpdir(), 'agent-service-bench-'));
    this.discard(directory);
    return directory;
  }

  /** It is removed at the end, if it is still there. */
  discard(folder: string): void {
    this.#folders.push(folder);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    this.#removeFolders();
    process.off('exit', this.#removeFolders);
  }
}
