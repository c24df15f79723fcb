import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { openChat } from '../support/console/chat-page.ts';

const KEEPING = 'llm: { provider: scripted, model: offline, keepReasoning: true }\n';
const LONG = Array.from({ length: 80 }, (_, line) => `Line ${line}: it may be **so**.`).join('\n\n');

describe('what the model thinks aloud', () => {
  it('is open while nothing was said yet, then folded, and opened by the keyboard', async () => {
    await using chat = await openChat();
    const { conversation, page } = chat;
    await chat.say('Why?');
    const call = await chat.model.call(0);
    call.think('They ask ', 'for a reason.');
    const details = conversation.locator('details');
    await details.getByText('They ask for a reason.').waitFor();
    await details.getByText('Thinking…').waitFor();
    call.say('Because');
    const summary = details.getByText(/^Thought for [\d.]+ m?s$/);
    await summary.waitFor();
    expect(await details.getByText('They ask').count()).toBe(0);
    await summary.focus();
    await page.keyboard.press('Enter');
    await details.getByText('They ask for a reason.').waitFor();
    await page.keyboard.press('Tab');
    await details.getByLabel('What the model thought').and(page.locator(':focus')).waitFor();
    // What the reader has opened stays open when the step is over.
    call.answer(' it is so.');
    await conversation.getByRole('button', { name: 'Fork from here' }).waitFor();
    expect(await details.getByText('They ask for a reason.').isVisible()).toBe(true);
    expect(await conversation.locator('article').textContent()).toContain('Because it is so.');
    expect(chat.errors).toEqual([]);
  });

  it('stays folded while it goes on for a reader who has folded it', async () => {
    await using chat = await openChat();
    await chat.say('Why?');
    const call = await chat.model.call(0);
    call.think('They ask');
    const details = chat.conversation.locator('details');
    await details.getByText('They ask').waitFor();
    await details.getByText('Thinking…').click();
    await details.getByText('They ask').waitFor({ state: 'detached' });
    call.think(' for a reason.');
    call.answer('Because.');
    await details.getByText(/^Thought for/).waitFor();
    await chat.conversation.getByText('Because.').waitFor();
    expect(await details.evaluate((element) => element.hasAttribute('open'))).toBe(false);
    expect(chat.errors).toEqual([]);
  });

  it('comes once after a reload in the middle of it, and is gone after its end where it is not kept', async () => {
    await using chat = await openChat();
    const { conversation, page } = chat;
    await chat.say('Why?');
    const call = await chat.model.call(0);
    call.think('They ask');
    await conversation.getByText('They ask').waitFor();
    await page.reload();
    await conversation.getByText('They ask').waitFor();
    call.think(' for a reason.');
    await conversation.getByText('They ask for a reason.', { exact: true }).waitFor();
    call.answer('Because.');
    await conversation.getByText(/^Thought for/).waitFor();
    await page.reload();
    await conversation.getByText('Because.').waitFor();
    expect(await conversation.locator('details').count()).toBe(0);
    expect(chat.errors).toEqual([]);
  });

  it('is there after a reload where it is kept, each step its own', async () => {
    await using chat = await openChat({ llm: KEEPING });
    const { conversation, page } = chat;
    await chat.say('Look around');
    const first = await chat.model.call(0);
    first.think('I should look.');
    first.askFor({ name: 'look' });
    (await chat.tools.call(0)).answer('roses');
    const second = await chat.model.call(1);
    second.think('Roses, then.');
    second.answer('I saw roses.');
    await conversation.getByRole('button', { name: 'Fork from here' }).waitFor();
    await page.reload();
    const thoughts = conversation.getByText('Thought', { exact: true });
    await thoughts.nth(1).waitFor();
    await thoughts.first().click();
    await conversation.getByText('I should look.').waitFor();
    expect(await conversation.getByText('Roses, then.').count()).toBe(0);
    await thoughts.nth(1).click();
    await conversation.getByText('Roses, then.').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('is still shown of a turn that was cancelled in it', async () => {
    await using chat = await openChat();
    await chat.say('Why?');
    const call = await chat.model.call(0);
    call.think('They ask');
    await chat.conversation.getByText('They ask').waitFor();
    await chat.page.getByRole('button', { name: 'Cancel' }).click();
    await chat.conversation.getByText('cancelled', { exact: true }).waitFor();
    await chat.conversation.getByText(/^Thought for/).click();
    await chat.conversation.getByText('They ask').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('is no part of the reply that is copied, also when it is open, and is copied by itself', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    await using chat = await openChat({ context: { permissions } });
    const { conversation, page } = chat;
    await chat.say('Why?');
    const call = await chat.model.call(0);
    call.think('They ask for a reason.');
    call.answer('Because it is so.');
    await conversation.getByText(/^Thought for/).click();
    const thought = conversation.getByText('They ask for a reason.');
    await thought.waitFor();
    const copied = async (): Promise<string> => {
      await page.keyboard.press('Control+C');
      return await page.evaluate<string>('navigator.clipboard.readText()');
    };
    await page.evaluate('getSelection().selectAllChildren(document.querySelector("article"))');
    const turn = await copied();
    expect(turn).toContain('Why?');
    expect(turn).toContain('Because it is so.');
    expect(turn).not.toMatch(/Thought|They ask/);
    await thought.click({ clickCount: 3 });
    expect(await copied()).toContain('They ask for a reason.');
    expect(chat.errors).toEqual([]);
  });

  it('shows its end while it grows, in a box of its own', async () => {
    await using chat = await openChat();
    await chat.say('Why?');
    const call = await chat.model.call(0);
    call.think(LONG);
    const box = chat.conversation.getByLabel('What the model thought');
    await box.getByText('Line 79').waitFor();
    const left = () =>
      box.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
    expect(await left()).toBeLessThan(2);
    expect((await box.boundingBox())?.height).toBeLessThan(400);
    // The page hears of it a moment later.
    await box.evaluate((element) => {
      const scrolled = new Promise((resolve) => {
        element.addEventListener('scroll', resolve, { once: true });
      });
      element.scrollTo({ top: 0 });
      return scrolled.then(() => undefined);
    });
    call.think('\n\nLine 80');
    await box.getByText('Line 80').waitFor();
    expect(await left()).toBeGreaterThan(400);
    call.answer('Because.');
    await chat.conversation.getByText('Because.').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('has no serious accessibility issue, %s', async (colorScheme) => {
    await using chat = await openChat({ context: { colorScheme, viewport: { width: 390, height: 800 } } });
    await chat.say('Why?');
    const call = await chat.model.call(0);
    call.think(LONG);
    await chat.conversation.getByText('Line 79').waitFor();
    await expectAccessible(chat.page);
    call.say('Because');
    call.end({ finishReason: 'length', usage: { inputTokens: 1, outputTokens: 2 } });
    await chat.conversation.getByText('token limit').waitFor();
    await chat.conversation.getByText(/^Thought for/).click();
    await chat.conversation.getByText('Line 79').waitFor();
    await expectAccessible(chat.page);
  });
});

describe('the end of a reply', () => {
  it('says that a token limit cut it, and what to do', async () => {
    await using chat = await openChat();
    const { conversation, page } = chat;
    await chat.say('Tell me');
    const call = await chat.model.call(0);
    call.say('Once upon');
    call.end({ finishReason: 'length' });
    const note = conversation.getByText(
      'The reply ended at the token limit. Raise llm.maxTokens, or ask to continue.',
    );
    await note.waitFor();
    await page.reload();
    await note.waitFor();
    await chat.say('Go on');
    (await chat.model.call(1)).answer(' a time.');
    await conversation.getByText('a time.').waitFor();
    expect(await note.count()).toBe(1);
    expect(chat.errors).toEqual([]);
  });

  it('tells the model and the tokens of all its steps', async () => {
    await using chat = await openChat();
    const { conversation, page } = chat;
    await chat.say('Look around');
    const first = await chat.model.call(0);
    first.askFor({ name: 'look' });
    (await chat.tools.call(0)).answer('roses');
    const usage = { inputTokens: 1_204, outputTokens: 350, cachedTokens: 1_024, reasoningTokens: 210 };
    (await chat.model.call(1)).answerWithUsage(usage, 'I saw roses.');
    const footer = conversation.locator('footer');
    await footer.getByText('directed directed', { exact: true }).waitFor();
    await footer.getByText('1,204 tokens in (1,024 cached), 350 out (210 reasoning)').waitFor();
    await chat.say('And now?');
    (await chat.model.call(2)).answer('Nothing.');
    await conversation.getByRole('button', { name: 'Fork from here' }).nth(1).waitFor();
    await page.reload();
    await footer.getByText('1,204 tokens in (1,024 cached), 350 out (210 reasoning)').waitFor();
    expect(await footer.getByText('tokens in').count()).toBe(1);
    expect(chat.errors).toEqual([]);
  });
});
