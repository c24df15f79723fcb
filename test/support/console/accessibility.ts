import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What moves has come to rest by then. */
const REST_MS = 60_000;

/** Fails when axe-core finds a serious or critical issue on the page, and still finds it a moment later. */
export async function expectAccessible(page: Page): Promise<void> {
  await expect.poll(() => graveIssues(page), { timeout: REST_MS }).toEqual([]);
}

/** Each serious or critical issue of axe-core on the page as it is now: its rule, and the elements. */
export async function graveIssues(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so the page's own policy is not in the way.
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<Pick<AxeResults, 'violations'>>('axe.run(document)');
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** The elements that one can use with a mouse and not reach with Tab, or with the arrows in a group. */
export async function unreachableByKeyboard(page: Page): Promise<string[]> {
  await page.evaluate(`
    document.activeElement.blur();
    window.controls = [...document.querySelectorAll('${CONTROLS}')].filter((element) => {
      const isShown = element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
      return isShown && !element.matches(':disabled') && !element.closest('[inert], [aria-hidden="true"]');
    });
    window.reached = new Set();
  `);
  const most = (await page.evaluate<number>('window.controls.length')) * 2 + 20;
  for (let pressed = 0; pressed < most; pressed += 1) {
    await page.keyboard.press('Tab');
    const isBack = await page.evaluate<boolean>(
      'window.reached.has(document.activeElement) || !window.reached.add(document.activeElement)',
    );
    if (isBack && pressed > 0) break;
  }
  return page.evaluate<string[]>(`
    window.controls
      .filter((element) => !window.reached.has(element))
      // Of such a group, Tab reaches one element and the arrows the others.
      .filter((element) => !(element.type === 'radio' || element.closest('${GROUPS}')))
      .map((element) => element.outerHTML.slice(0, 200))
  `);
}

const CONTROLS = 'a[href], button, input, select, textarea, summary, [role="button"], [role="slider"]';
const GROUPS = '[role="tablist"], [role="radiogroup"], [role="toolbar"], [role="listbox"], [role="menu"]';

/** By how many pixels the page, or its main part, is wider than there is room for. */
export function overflowPx(page: Page): Promise<number> {
  return page.evaluate<number>(`Math.max(
    ...[document.documentElement, document.querySelector('main')].map((part) => part.scrollWidth - part.clientWidth),
  )`);
}
