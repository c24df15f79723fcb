import type { Vitest } from 'vitest/node';
import { findMain } from '../../../bin/find-main.js';
import { projectRoot } from './source-imports.ts';

/** Each project of the tests asks. */
let isCurrent: boolean | undefined;

/** Whether tests run the build. While files are watched, it becomes outdated. */
export function usesBuild({ config }: Vitest): boolean {
  if (config.watch) return false;
  isCurrent ??= !findMain(projectRoot).fromSource;
  return isCurrent;
}
