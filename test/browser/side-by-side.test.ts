import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { openWatched, upToApproval, type WatchedPage } from '../support/console/watched-page.ts';

const SMALL = { viewport: { width: 390, height: 844 } };

/** Two turns that have ended, the first with a reply that fills more than the page. */
async function twoTurns({ say, model, turn }: WatchedPage): Promise<void> {
  await say('first');
  (await model.call(0)).answer('A long story. \n\n'.repeat(60));
  await turn('first').getByText('A long story.').first().waitFor();
  await say('second');
  (await model.call(1)).answer('A short one.');
  await turn('second').getByText('A short one.').waitFor();
}

const isSelected = async (turn: ReturnType<WatchedPage['turn']>) =>
  (await turn.getAttribute('data-selected')) === 'true';

describe('side by side', () => {
  it('opens the timeline beside the chat, keeps it in the address, and closes it', async () => {
    await using setup = await openWatched('#/chat/s');
    const { page, opened } = setup;
    await page.getByRole('textbox', { name: 'Message' }).fill('not sent yet');
    const button = page.getByRole('button', { name: 'Side by side' });
    await button.click();
    const beside = page.getByRole('region', { name: 'Timeline', exact: true });
    await beside.getByText('Nothing has happened in this session yet.').waitFor();
    expect(page.url()).toContain('beside=timeline');
    // What was typed is still there: the chat was not made anew.
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('not sent yet');
    await page.getByRole('button', { name: 'Statechart' }).click();
    await page.getByRole('region', { name: /^Chart of the turn machine/ }).waitFor();
    await page.reload();
    await page.getByRole('region', { name: /^Chart of the turn machine/ }).waitFor();
    await button.click();
    await expect.poll(() => page.getByRole('region', { name: /^Chart/ }).count()).toBe(0);
    expect(page.url()).not.toContain('beside');
    expect(opened.errors).toEqual([]);
  });

  it('finds the events of a turn that is clicked in the chat, and back', async () => {
    await using setup = await openWatched('#/chat/s?beside=timeline');
    const { page, row, turn, opened } = setup;
    await twoTurns(setup);
    await turn('second').getByText('A short one.').click();
    await expect.poll(() => isSelected(turn('second'))).toBe(true);
    expect(await row(/^second/).getAttribute('aria-selected')).toBe('true');
    expect(page.url()).toContain('turn=');
    await page.getByRole('heading', { name: /^Event 5 message/ }).waitFor();
    await row(/^first/).click();
    await expect.poll(() => isSelected(turn('first'))).toBe(true);
    expect(await isSelected(turn('second'))).toBe(false);
    // The chat has come to the turn.
    const conversation = await page.getByRole('log', { name: 'Conversation' }).boundingBox();
    await expect
      .poll(async () => {
        const box = await turn('first').boundingBox();
        return box && conversation && box.y + box.height > conversation.y + 100;
      })
      .toBe(true);
    // The same click again lets go of the turn.
    await turn('first').getByText('first', { exact: true }).click();
    await expect.poll(() => isSelected(turn('first'))).toBe(false);
    expect(page.url()).not.toContain('turn=');
    expect(opened.errors).toEqual([]);
  });

  it('does not choose a turn by clicks in a dialog or in a form of it', async () => {
    await using setup = await openWatched('#/chat/s?beside=timeline');
    const { page, service, model, turn, opened } = setup;
    const imageData = { mimeType: 'image/gif', base64: Buffer.from('GIF89a').toString('base64') };
    const said = service.post('/api/message-sync', { message: 'Look', sessionId: 's', imageData });
    (await model.call(0)).answer('I see.');
    await said;
    await turn('Look').getByRole('button', { name: 'Image of the message: enlarge' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    // Beside the dialog, which closes it.
    await page.mouse.click(2, 2);
    await dialog.waitFor({ state: 'detached' });
    expect(await isSelected(turn('Look'))).toBe(false);
    await turn('Look').getByText('I see.').click();
    await expect.poll(() => isSelected(turn('Look'))).toBe(true);
    expect(opened.errors).toEqual([]);
  });

  it('finds the moment of a turn in the chart, and follows the next turn when asked to', async () => {
    await using setup = await openWatched('#/chat/s?beside=statecharts');
    const { page, say, model, turn, opened } = setup;
    await twoTurns(setup);
    const state = (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor();
    await page.getByText('The chart stays like this until the next turn begins').waitFor();
    await turn('second').getByRole('button', { name: 'Steps' }).press('Enter');
    await page.getByText('6 / 6', { exact: true }).waitFor();
    await state('completed');
    const chooser = page.getByLabel('Turn', { exact: true });
    const labels = await chooser.locator('option').allTextContents();
    await chooser.selectOption({ label: labels.find((label) => label.endsWith('first')) ?? '' });
    await expect.poll(() => isSelected(turn('first'))).toBe(true);
    await say('third');
    await model.call(2);
    await page.getByText('a turn runs').waitFor();
    await state('completed');
    await page.getByRole('button', { name: 'Live' }).click();
    await state('callingModel › thinking');
    expect(await isSelected(turn('first'))).toBe(false);
    expect(opened.errors).toEqual([]);
  });

  it('shows the chosen event of the timeline in the statechart, too', async () => {
    await using setup = await openWatched('#/timeline/s');
    const { page, row, opened } = setup;
    await upToApproval(setup);
    await row(/^look/).click();
    await page.getByRole('link', { name: 'Statecharts' }).click();
    await page.getByRole('button', { name: 'Past turn', pressed: true }).waitFor();
    await page
      .getByRole('region', { name: 'Moments' })
      .locator('[aria-current="step"]')
      .getByText('event 7', { exact: true })
      .waitFor();
    expect(opened.errors).toEqual([]);
  });

  it('is divided by a line that keys and the pointer move, and that stays where it was', async () => {
    await using setup = await openWatched('#/chat/s?beside=timeline');
    const { page, opened } = setup;
    const line = page.getByRole('separator', { name: 'Width of the chat' });
    const width = async () => (await page.getByRole('region', { name: 'Chat' }).boundingBox())?.width ?? 0;
    await line.waitFor();
    const before = await width();
    await line.press('ArrowRight');
    await expect.poll(width).toBeGreaterThan(before);
    const box = (await line.boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.move(box.x, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x - 150, box.y + 100, { steps: 3 });
    await page.mouse.up();
    await expect.poll(width).toBeLessThan(before);
    const moved = await width();
    await page.reload();
    await line.waitFor();
    expect(await width()).toBe(moved);
    expect(opened.errors).toEqual([]);
  });

  it('becomes tabs on a small display', async () => {
    await using setup = await openWatched('#/chat/s', SMALL);
    const { page, row, turn, opened } = setup;
    await twoTurns(setup);
    const long = 'a message that needs more than one line on a small display';
    await setup.say(long);
    (await setup.model.call(2)).answer('I see.');
    const bubble = await turn(long).getByText(long, { exact: true }).boundingBox();
    const steps = await turn(long).getByRole('button', { name: 'Steps' }).boundingBox();
    if (!bubble || !steps) throw new Error('the turn is not shown');
    expect(steps.x + steps.width).toBeLessThanOrEqual(bubble.x);
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('not sent yet');
    await turn('second').getByRole('button', { name: 'Steps' }).click();
    await row(/^second/).waitFor();
    expect(await message.isVisible()).toBe(false);
    await row(/^first/).click();
    await page.getByRole('group', { name: 'Chat, timeline or statechart' }).getByText('Chat').click();
    await message.waitFor();
    expect(await message.inputValue()).toBe('not sent yet');
    expect(await isSelected(turn('first'))).toBe(true);
    await expect.poll(() => turn('first').getByText('first', { exact: true }).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Statechart' }).click();
    await page.getByRole('region', { name: /^Chart of the turn machine/ }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(page);
    expect(opened.errors).toEqual([]);
  });
});
