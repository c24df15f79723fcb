import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FinishedRun, unverified } from '../../support/project/requirements-reporter.ts';
import { projectRoot } from '../../support/project/source-imports.ts';

const whole: FinishedRun = {
  files: ['/a.test.ts', '/b.test.ts'],
  filesRun: ['/b.test.ts', '/a.test.ts', '/elsewhere.test.ts'],
  isFiltered: false,
  outcomes: [
    { requirement: 'passed', passed: true },
    { requirement: 'passed-once', passed: false },
    { requirement: 'passed-once', passed: true },
    { requirement: 'failed', passed: false },
    { requirement: undefined, passed: true },
  ],
};
const required = ['passed', 'passed-once', 'failed', 'untested'];

describe('the requirements without a passed test', () => {
  it('are told after a run of all files', () => {
    expect(unverified(required, whole)).toEqual(['failed', 'untested']);
    expect(unverified(['passed', 'passed-once'], whole)).toEqual([]);
    expect(unverified(required, { ...whole, outcomes: [] })).toEqual(required);
  });

  it('are not told when a file was left out, or single tests', () => {
    expect(unverified(required, { ...whole, filesRun: ['/a.test.ts'] })).toEqual([]);
    expect(unverified(required, { ...whole, isFiltered: true })).toEqual([]);
  });
});

describe('a run of vitest', { timeout: 180_000 }, () => {
  const NO_TEST = 'No test passed that verifies these requirements:\n  ops.ready\n';

  it('passes when a test of each requirement passes', () => {
    expect(runFixture([], '')).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    ['', []],
    [', also when it names the folder', ['test/e2e']],
  ])('fails when the only test of a requirement is skipped%s', (_how, args) => {
    expect(runFixture(args, 'ops.ready')).toEqual({ status: 1, stderr: NO_TEST });
  });

  it.each([
    ['names tests', ['-t', 'service']],
    ['names lines', ['test/e2e/all.test.ts', 'test/e2e/one.test.ts:3', '--includeTaskLocation']],
  ])('passes when it %s and cannot know', (_how, args) => {
    expect(runFixture(args, 'ops.ready')).toEqual({ status: 0, stderr: '' });
  });
});

/** @param skipped the requirement whose only test is skipped. */
function runFixture(args: readonly string[], skipped: string): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(projectRoot, 'node_modules/vitest/vitest.mjs'), 'run', ...args],
    {
      cwd: join(projectRoot, 'test/fixtures/requirements-run'),
      env: { PATH: process.env.PATH, REQUIREMENT_SKIPPED: skipped },
      encoding: 'utf8',
    },
  );
  return { status, stderr };
}
