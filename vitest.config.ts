import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { builtThreads } from './test/support/project/built-threads.ts';
import { FileOrder } from './test/support/project/file-order.ts';
import { RequirementsReporter } from './test/support/project/requirements-reporter.ts';
import { RetriedReporter } from './test/support/project/retried-reporter.ts';

/** Tests of adapters against real processes, sockets and disks: right, but not a matter of seconds. */
const adapters = ['test/conformance/**/*.test.ts', 'test/adapters/**/*.test.ts'];

/**
 * Far longer than anything takes: they end what hangs, and a busy machine must not decide. A poll waits nearly as long as
 * its test may take.
 */
const expectation = { poll: { timeout: 150_000 } };
const timeouts = { testTimeout: 180_000, hookTimeout: 180_000, expect: expectation };
/** What tests of services need is made once, and their threads run the build. */
const globalSetup = 'test/support/project/made-once.ts';
const plugins = [builtThreads()];
/** A test of real processes that fails runs once more, and is named if it passes then. See docs/decisions/0157. */
const retry = 1;
/** Files share the modules that they import: loading them anew for each takes a second, of hundreds of files. */
const isolate = false;

export default defineConfig({
  test: {
    // Most tests wait for other processes most of the time: one worker less than processors leaves half of them idle.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: FileOrder },
    reporters: [...configDefaults.reporters, new RequirementsReporter(), new RetriedReporter()],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/machines/**/*.test.ts'],
          isolate,
          // Some compute for seconds where two files share busy processors.
          testTimeout: 90_000,
          expect: { poll: { timeout: 80_000 } },
        },
      },
      { plugins, test: { name: 'adapters', include: adapters, globalSetup, isolate, ...timeouts, retry } },
      {
        plugins,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup,
          isolate,
          setupFiles: 'test/support/console/close-chromium.ts',
          ...timeouts,
          retry,
        },
      },
      {
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          expect: expectation,
          retry,
        },
      },
      {
        plugins,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts', 'test/providers/**/*.test.ts'],
          globalSetup,
          isolate,
          // As many as one file has that mostly wait: those of stalled clients, for seconds each.
          maxConcurrency: 8,
          ...timeouts,
          retry,
        },
      },
      { test: { name: 'simulation', include: ['test/simulation/**/*.test.ts'], testTimeout: 600_000 } },
      {
        plugins,
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          globalSetup,
          isolate,
          testTimeout: 240_000,
          hookTimeout: 180_000,
          expect: expectation,
          retry,
        },
      },
    ],
  },
});
