import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails when axe-core finds a serious or critical issue on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger, so the page's own policy is not in the way.
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<Pick<AxeResults, 'violations'>>('axe.run(document)');
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}
