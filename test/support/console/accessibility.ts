import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What else axe-core collects is looked at by nobody, and takes most of its time. No rule that runs needs style sheets. */
const OPTIONS = { resultTypes: ['violations'], preload: false };
/** What moves has come to rest by then. */
const REST_MS = 60_000;

/** Fails when axe-core finds a serious or critical issue on the page, and still finds it a moment later. */
export async function expectAccessible(page: Page): Promise<void> {
  await expect.poll(() => graveIssues(page), { timeout: REST_MS }).toEqual([]);
}

/** Each serious or critical issue of axe-core on the page as it is now: its rule, and the elements. */
export async function graveIssues(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so the page's own policy is not in the way.
  if (!(await page.evaluate<boolean>(`typeof axe === 'object'`))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate<Pick<AxeResults, 'violations'>>(
    `axe.run(document, ${JSON.stringify(OPTIONS)})`,
  );
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** The page notes the focus by itself: to ask it after each Tab takes longer than the Tab. */
const TABS_AT_ONCE = 10;

/** The elements that one can use with a mouse and not reach with Tab, or with the arrows in a group. */
export async function unreachableByKeyboard(page: Page): Promise<string[]> {
  await page.evaluate(`
    document.activeElement.blur();
    window.controls = [...document.querySelectorAll('${CONTROLS}')].filter((element) => {
      const isShown = element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
      return isShown && !element.matches(':disabled') && !element.closest('[inert], [aria-hidden="true"]');
    });
    window.reached = new Set();
    window.isBack = false;
    // At each Tab: where the one before has brought the focus.
    window.noteFocus = () => {
      window.isBack ||= window.reached.has(document.activeElement);
      window.reached.add(document.activeElement);
    };
  `);
  const most = (await page.evaluate<number>('window.controls.length')) * 2 + 20;
  await page.keyboard.press('Tab');
  await page.evaluate(`window.addEventListener('keydown', window.noteFocus, { capture: true })`);
  for (let pressed = 1; pressed < most; pressed += TABS_AT_ONCE) {
    for (let tab = 0; tab < TABS_AT_ONCE; tab += 1) await page.keyboard.press('Tab');
    if (await page.evaluate<boolean>('window.isBack')) break;
  }
  return page.evaluate<string[]>(`
    window.removeEventListener('keydown', window.noteFocus, { capture: true });
    window.reached.add(document.activeElement);
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
