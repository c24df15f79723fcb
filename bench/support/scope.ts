import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisCheckout, type Version } from './version.ts';

export interface ScopeOptions {
  readonly quick: boolean;
  readonly profiles?: string | undefined;
  /** The servers by others to compare with. Default: none. */
  readonly peers?: readonly string[];
  /** Default: this checkout. */
  readonly versions?: readonly Version[];
}

/** Owns what a bench opens, and closes it at the end of the bench, in reverse order. */
export class Scope {
  /** A smoke test of a few seconds instead of a measurement. */
  readonly quick: boolean;
  /** Folder for the CPU profiles of the service; undefined for none. */
  readonly profiles: string | undefined;
  /** The versions of the service that are measured, in this order. */
  readonly versions: readonly Version[];
  readonly peers: readonly string[];
  readonly #closers: (() => unknown)[] = [];
  readonly #folders: string[] = [];
  readonly #removeFolders = (): void => {
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };

  constructor({ quick, profiles, peers = [], versions = [thisCheckout] }: ScopeOptions) {
    this.quick = quick;
    this.profiles = profiles;
    this.peers = peers;
    this.versions = versions;
    // Also remove the folders when the process ends in the middle of a bench.
    process.once('exit', this.#removeFolders);
  }

  /** Whether versions of the service are compared with each other, and not with controls. */
  get isComparison(): boolean {
    return this.versions.length > 1;
  }

  /** The rounds of a bench that wants this many. A comparison has rounds of its own, with new processes in each. */
  rounds(wanted: number): number {
    return this.quick || this.isComparison ? 1 : wanted;
  }

  /**
   * How often the subjects take turns with less load each, where they differ by little: what disturbs the machine for a second
   * or two then meets both versions of a comparison.
   */
  turns(wanted: number): number {
    return this.isComparison && !this.quick ? wanted : 1;
  }

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** A new empty folder, which is removed at the end. */
  directory(): string {
    const directory = mkdtempSync(join(tmpdir(), 'agent-service-bench-'));
    this.discard(directory);
    return directory;
  }

  /** Removes the folder at the end, if it still exists. */
  discard(folder: string): void {
    this.#folders.push(folder);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    this.#removeFolders();
    process.off('exit', this.#removeFolders);
  }
}
