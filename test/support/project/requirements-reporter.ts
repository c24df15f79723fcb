import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule, TestRunEndReason, TestSpecification, Vitest } from 'vitest/node';
import { requirements } from '../../e2e/requirements.ts';

export interface TestOutcome {
  readonly requirement: string | undefined;
  readonly passed: boolean;
}

export interface FinishedRun {
  /** The test files that there are. */
  readonly files: readonly string[];
  readonly filesRun: readonly string[];
  /** Whether tests were left out by their name or their line. */
  readonly isFiltered: boolean;
  readonly outcomes: readonly TestOutcome[];
}

/** The requirements of which no test passed; none when only a part of the tests ran, which proves nothing. */
export function unverified(required: readonly string[], run: FinishedRun): string[] {
  const filesRun = new Set(run.filesRun);
  if (run.isFiltered || !run.files.every((file) => filesRun.has(file))) return [];
  const verified = new Set(run.outcomes.filter(({ passed }) => passed).map(({ requirement }) => requirement));
  return required.filter((requirement) => !verified.has(requirement));
}

/** Fails a run of all end-to-end tests that has left a requirement without a passed test. */
export class RequirementsReporter implements Reporter {
  #vitest: Vitest | null = null;
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const byName = this.#vitest?.getGlobalTestNamePattern() !== undefined;
    // The lines are an empty list where a file was named without one.
    const byLine = specifications.some(({ testLines = [] }) => testLines.length > 0);
    this.#isFiltered = byName || byLine;
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: readonly unknown[], reason: TestRunEndReason): void {
    const vitest = this.#vitest;
    // An interrupted run has failed already.
    if (vitest === null || reason === 'interrupted') return;
    const { root } = vitest.config;
    const files = globSync('test/e2e/**/*.test.ts', { cwd: root }).map((file) => join(root, file));
    const filesRun = modules.map(({ moduleId }) => moduleId);
    const outcomes = modules.flatMap(outcomesOf);
    const missing = unverified(Object.keys(requirements), {
      files,
      filesRun,
      isFiltered: this.#isFiltered,
      outcomes,
    });
    if (missing.length === 0) return;
    vitest.logger.error(`No test passed that verifies these requirements:\n  ${missing.join('\n  ')}`);
    process.exitCode = 1;
  }
}

function outcomesOf({ children }: TestModule): TestOutcome[] {
  return [...children.allTests()].map((test) => ({
    requirement: test.meta().requirement,
    passed: test.result().state === 'passed',
  }));
}
