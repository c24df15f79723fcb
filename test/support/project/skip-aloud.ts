import type { TestContext } from 'vitest';

/** Skips a test where there is a reason to, and prints the reason: a test that nobody runs must not look like one that passes. */
export function skipAloud(context: TestContext, reason: string | undefined): void {
  if (reason === undefined) return;
  process.stderr.write(`SKIPPED ${context.task.name}: ${reason}\n`);
  context.skip(reason);
}
