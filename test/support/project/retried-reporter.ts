import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

/** The parts of a finished test that tell whether it needed a second try. */
export interface TriedTest {
  readonly name: string;
  readonly file: string;
  readonly isFlaky: boolean;
  /** Messages of the tries that failed. */
  readonly errors: readonly string[];
}

/** A line for each test that failed and then passed. */
export function flakyLines(tests: readonly TriedTest[]): string[] {
  return tests
    .filter(({ isFlaky }) => isFlaky)
    .map(({ file, name, errors }) => `${file} > ${name}: ${firstLine(errors[0])}`);
}

/** Names the tests that passed only when they ran again, so that nobody overlooks them in a run that has passed. */
export class RetriedReporter implements Reporter {
  #vitest: Vitest | null = null;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(({ children }) => [...children.allTests()].map(triedTest));
    const lines = flakyLines(tests);
    if (lines.length === 0) return;
    const title = 'These tests failed, and passed when they ran again. Find out why:';
    this.#vitest?.logger.error(`${title}\n  ${lines.join('\n  ')}`);
  }
}

function triedTest(test: TestCase): TriedTest {
  return {
    name: test.fullName,
    file: test.module.relativeModuleId,
    isFlaky: test.diagnostic()?.flaky ?? false,
    errors: test.result().errors?.map(({ message }) => message) ?? [],
  };
}

function firstLine(text = ''): string {
  return text.split('\n', 1)[0] ?? '';
}
