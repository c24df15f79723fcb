import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { SessionEvent } from '../../src/core/log/events.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { openWatched, upToApproval } from '../support/console/watched-page.ts';

const openTimeline = (context: Parameters<typeof openWatched>[1] = {}) =>
  openWatched('#/timeline/s', context);

/** A log in which the session `s` has so many turns, of five events each. */
async function turns(count: number): Promise<EventStore> {
  const store = memoryEventStore();
  const events = Array.from({ length: count }, (_, index): SessionEvent[] => {
    const turnId = `t${index + 1}`;
    const usage = { inputTokens: 10, outputTokens: 2 };
    const parts = [{ type: 'text' as const, text: 'yes' }];
    return [
      { type: 'turn.requested', turnId, text: `question ${index + 1}` },
      { type: 'turn.started', turnId },
      { type: 'step.completed', turnId, step: 1, parts, separator: '', source: null, usage },
      { type: 'turn.completed', turnId, content: 'yes' },
      { type: 'session.reset' },
    ];
  }).flat();
  await store.append('s', 0, events, { open: false });
  return store;
}

describe('the waterfall of the timeline', () => {
  it('shows each turn with its model calls, tools and approvals, and the chosen one in detail', async () => {
    await using setup = await openTimeline();
    const { page, row, detail, service, model, opened } = setup;
    await page.getByText('Nothing has happened in this session yet.').waitFor();
    await upToApproval(setup);
    await row(/^Where is it\?.*so far/).waitFor();
    await row(/^Model call 1.*1,204 → 350 tokens/).waitFor();
    await row(/^look/).waitFor();
    await row(/^write.*waiting for approval so far/).waitFor();
    await service.post('/api/sessions/s/approvals/w', { decision: 'deny' });
    (await model.call(1)).answer('It is in the drawer.');
    await row(/^write.*waiting for approval denied/).waitFor();
    await row(/^Model call 2/).waitFor();
    await row(/^look/).click();
    await detail.getByRole('heading', { name: /^Event 7 toolResult/ }).waitFor();
    await page.keyboard.press('ArrowUp');
    await detail.getByRole('heading', { name: /^Event 3 stepCompleted/ }).waitFor();
    expect(page.url()).toContain('event=3');
    // The address leads to the same event.
    await page.reload();
    await detail.getByRole('heading', { name: /^Event 3 stepCompleted/ }).waitFor();
    expect(await row(/^Model call 1/).getAttribute('aria-selected')).toBe('true');
    expect(opened.errors).toEqual([]);
  });

  it('is zoomed by buttons, by keys, and by the wheel with Ctrl', async () => {
    await using setup = await openTimeline();
    const { page, row, service, model, opened } = setup;
    await upToApproval(setup);
    await row(/^write/).waitFor();
    // While the turn runs, its bars grow.
    await service.post('/api/sessions/s/approvals/w', { decision: 'deny' });
    (await model.call(1)).answer('It is in the drawer.');
    await expect.poll(() => page.getByText('so far').count()).toBe(0);
    const bar = row(/^look/).locator('[data-kind="tool"]');
    const place = async () => (await bar.boundingBox())?.x ?? Number.NaN;
    await row(/^Model call 1/).waitFor();
    const zoomIn = page.getByRole('button', { name: 'Zoom in' });
    const zoomOut = page.getByRole('button', { name: 'Zoom out' });
    expect(await zoomOut.isDisabled()).toBe(true);
    const list = page.getByRole('listbox', { name: 'Steps of the turns' });
    const width = () => page.evaluate<number>('document.querySelector("[role=listbox]").scrollWidth');
    const whole = await width();
    await zoomIn.click();
    await expect.poll(width).toBeGreaterThan(whole);
    await list.focus();
    await page.keyboard.press('+');
    const larger = await width();
    await page.keyboard.press('+');
    await expect.poll(width).toBeGreaterThan(larger);
    await page.keyboard.press('0');
    await expect.poll(width).toBe(whole);
    // With Ctrl, the key is left to the browser, which enlarges the page.
    const isLeft = await page.evaluate(`document.activeElement.dispatchEvent(
      new KeyboardEvent('keydown', { key: '+', ctrlKey: true, bubbles: true, cancelable: true }),
    )`);
    expect(isLeft).toBe(true);
    expect(await width()).toBe(whole);
    const box = (await list.boundingBox()) ?? { x: 0, y: 0, width: 0 };
    const before = await place();
    await page.mouse.move(before, box.y + 40);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await expect.poll(width).toBeGreaterThan(whole);
    // What was under the pointer is still there, except for the fraction of a pixel that the event of the wheel lacks.
    expect(Math.abs((await place()) - before)).toBeLessThan(4);
    expect(await page.evaluate('window.visualViewport.scale')).toBe(1);
    expect(opened.errors).toEqual([]);
  });

  it('is left for the list and found again, with the same event chosen', async () => {
    await using setup = await openTimeline();
    const { page, row, detail, opened } = setup;
    await upToApproval(setup);
    await row(/^look/).click();
    await page.getByRole('button', { name: 'List' }).click();
    const listed = page.getByRole('option', { name: /^7 toolResult/ });
    expect(await listed.getAttribute('aria-selected')).toBe('true');
    await detail.getByRole('heading', { name: /^Event 7/ }).waitFor();
    await page.getByRole('button', { name: 'Waterfall' }).click();
    await row(/^look/).waitFor();
    expect(await row(/^look/).getAttribute('aria-selected')).toBe('true');
    expect(opened.errors).toEqual([]);
  });

  it('holds thousands of turns with few of them in the page', async () => {
    const options = { adapters: { store: await turns(2_000) } };
    await using opened = await ConsolePage.open('#/timeline/s', options);
    const { page, errors } = opened;
    const turn = (number: number) => page.getByRole('option', { name: new RegExp(`^question ${number}\\b`) });
    await turn(2_000).waitFor();
    for (let pages = 1; pages < 10; pages += 1) {
      // What was in view stays in view, so the earlier turns are above it.
      const first = 2_001 - pages * 200;
      await page.getByRole('button', { name: 'Load earlier events' }).click();
      await expect
        .poll(async () => {
          await page.getByRole('listbox').press('Home');
          return turn(first - 200).count();
        })
        .toBe(1);
    }
    expect(await page.getByRole('button', { name: 'Load earlier events' }).count()).toBe(0);
    expect(await page.getByRole('option').count()).toBeLessThan(60);
    await page.keyboard.press('End');
    await turn(2_000).waitFor();
    await page.keyboard.press('ArrowUp');
    expect(await page.getByRole('option').count()).toBeLessThan(60);
    // From the key to the next frame, with everything that the page does in between.
    const start = performance.now();
    await page.keyboard.press('Home');
    await turn(1).waitFor();
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(errors).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('is accessible in %s', async (colorScheme) => {
    await using setup = await openTimeline({ colorScheme });
    const { page, row, detail } = setup;
    await upToApproval(setup);
    await row(/^write/).click();
    await detail.getByText('write waited for approval').waitFor();
    await expectAccessible(page);
  });

  it('fits a small display', async () => {
    await using setup = await openTimeline({ viewport: { width: 390, height: 844 } });
    const { page, row } = setup;
    await upToApproval(setup);
    await row(/^write/).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(page);
  });
});
