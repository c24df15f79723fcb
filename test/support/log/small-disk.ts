import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { tempDirectory } from '../service/temp-directory.ts';

const BLOCK = Buffer.alloc(4096, 'x');

/** Why no disk can be mounted here; undefined when one can. */
export function whyNoDisk(): string | undefined {
  if (process.platform !== 'linux') return 'a small disk is a tmpfs, which is a matter of Linux';
  if (process.getuid?.() !== 0) return 'only root may mount a small disk';
  // A container's root may not either, so it is tried.
  const folder = mkdtempSync(join(tmpdir(), 'agent-service-'));
  const { status, stderr, error } = spawnSync('mount', mounting(folder, 4096), { encoding: 'utf8' });
  if (status === 0) execFileSync('umount', [folder]);
  rmdirSync(folder);
  return status === 0 ? undefined : `a small disk cannot be mounted here: ${error?.message ?? stderr.trim()}`;
}

function mounting(path: string, bytes: number): string[] {
  return ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path];
}

/** A disk of a few megabytes, that can be filled and freed. */
export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Mounts it for one test: it goes when the test has finished, failed or taken too long. */
  static async mount(bytes: number, test: TestContext): Promise<SmallDisk> {
    const folder = await tempDirectory();
    test.onTestFinished(() => folder[Symbol.asyncDispose]());
    execFileSync('mount', mounting(folder.path, bytes));
    // Those registered later run first. Lazily, because a process of a test that took too long may still be there.
    test.onTestFinished(() => void execFileSync('umount', ['-l', folder.path]));
    return new SmallDisk(folder.path);
  }

  /** From now on nobody can write to it, not even root; or all who may can again. */
  remount(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.path]);
  }

  /** Leaves so many bytes free, or fewer. */
  fill(freeBytes = 0): void {
    const file = openSync(this.#ballast, 'a');
    try {
      for (;;) writeSync(file, BLOCK);
    } catch (error) {
      if (!isFull(error)) throw error;
    } finally {
      closeSync(file);
    }
    if (freeBytes > 0) execFileSync('truncate', ['-s', `-${freeBytes}`, this.#ballast]);
  }

  /** Gives back all that was filled. */
  free(): void {
    rmSync(this.#ballast);
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC';
}
