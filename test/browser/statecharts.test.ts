import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { DirectedModel } from '../support/models/directed-model.ts';
import { SCRIPTED } from '../support/service/running-service.ts';
import { DirectedTools } from '../support/tools/directed-tools.ts';

const YAML = `${SCRIPTED}
server: {drainTimeoutMs: 0}
mcpServers:
  tools: {type: stdio, command: none}
approval: {rules: [{tool: write, policy: ask}]}
`;

async function open(context: Parameters<typeof ConsolePage.open>[2] = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {}, write: {} });
  const adapters = { model, connector: tools };
  const opened = await ConsolePage.open('#/statecharts/s', { yaml: YAML, adapters }, context);
  const { page, service } = opened;
  // The tool server is listed once the stream of the machines has told the present.
  await page.getByRole('radio', { name: /^tools/ }).waitFor();
  const say = (message: string, sessionId = 's') => service.post('/api/message', { message, sessionId });
  return {
    opened,
    page,
    service,
    model,
    tools,
    say,
    /** Resolves when the words beside the chart name that state. */
    state: (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor(),
    /** Resolves when exactly these states are lit. */
    lit: async (...ids: string[]) => {
      for (const id of ids) await page.locator(`[data-state="${id}"][data-active="true"]`).waitFor();
      expect(await page.locator('[data-active="true"]').count()).toBe(ids.length);
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

type Setup = Awaited<ReturnType<typeof open>>;

/** A turn with a tool that answers, and one that waits for approval. */
async function upToApproval({ model, tools, say, state }: Setup) {
  await say('Where is it?');
  const call = await model.call(0);
  call.say('Let me look.');
  call.askFor({ name: 'look' }, { name: 'write', callId: 'w' });
  (await tools.call(0)).answer('In the drawer.');
  await state('executingTools › awaitingApproval');
}

describe('the statecharts, live', () => {
  it('follow a turn of the session: the active states are lit, and every move is listed', async () => {
    await using setup = await open();
    const { page, say, model, state, lit, opened } = setup;
    await state('not running');
    await lit();
    await say('hello');
    const call = await model.call(0);
    await state('callingModel › thinking');
    await lit('turn.callingModel', 'turn.callingModel.thinking');
    call.say('Hel');
    await state('callingModel › streaming');
    await lit('turn.callingModel', 'turn.callingModel.streaming');
    await page.locator('g[data-taken="true"][data-transition^="turn.callingModel.thinking"]').waitFor();
    call.answer('lo');
    await state('completed');
    await lit('turn.completed');
    const moves = page.getByRole('region', { name: 'Recent transitions' }).getByRole('listitem');
    expect((await moves.locator('code').allTextContents()).toReversed()).toEqual([
      'begins',
      'start',
      'turn.prepared',
      'step.streaming',
      'step.completed',
      'turn.completed',
    ]);
    expect(opened.errors).toEqual([]);
  });

  it('show one who comes later where the machine is at once', async () => {
    await using setup = await open();
    const { page, state, lit, opened } = setup;
    await upToApproval(setup);
    await page.reload();
    await state('executingTools › awaitingApproval');
    await lit('turn.executingTools', 'turn.executingTools.awaitingApproval');
    await page.getByText('w', { exact: true }).first().waitFor();
    expect(opened.errors).toEqual([]);
  });

  it('stay at the machine that was chosen, whatever begins', async () => {
    await using setup = await open();
    const { page, service, say, model, state, lit, opened } = setup;
    await page.getByRole('radio', { name: /^tools/ }).check();
    await state('connected');
    await lit('mcp-server.connected');
    await say('hello');
    await model.call(0);
    await page.getByLabel('Turn of s').waitFor();
    await lit('mcp-server.connected');
    await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' });
    await state('disconnected');
    await lit('mcp-server.disconnected');
    await page.getByLabel('This session’s turns').check();
    await state('callingModel › thinking');
    expect(opened.errors).toEqual([]);
  });

  it('are moved and zoomed by keys', async () => {
    await using setup = await open();
    const { page, opened } = setup;
    const chart = page.getByRole('region', { name: /^Chart of the turn machine/ });
    await chart.locator('[data-state="turn.preparing"]').waitFor();
    await chart.focus();
    const place = async () =>
      (await chart.locator('[data-state="turn.preparing"]').boundingBox()) ?? { x: 0, width: 0 };
    const before = await place();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => (await place()).x).toBeGreaterThan(before.x);
    await page.keyboard.press('+');
    await expect.poll(async () => (await place()).width).toBeGreaterThan(before.width);
    await page.keyboard.press('0');
    await expect.poll(async () => Math.round((await place()).x)).toBe(Math.round(before.x));
    expect(opened.errors).toEqual([]);
  });
});

describe('a turn of the past', () => {
  it('is gone through event by event, with the states in which its machine was', async () => {
    await using setup = await open();
    const { page, service, state, lit, opened } = setup;
    await upToApproval(setup);
    await service.post('/api/sessions/s/cancel');
    await state('cancelled');
    const told = page.getByRole('region', { name: 'Recent transitions' }).getByRole('listitem');
    const livedStates = (await told.allInnerTexts()).map((text) => /→ (.*)/.exec(text)?.[1]).toReversed();

    await page.getByRole('button', { name: 'Past turn' }).click();
    const moments = page.getByRole('region', { name: 'Moments' }).getByRole('listitem');
    await state('cancelled');
    const slider = page.getByRole('slider', { name: 'Moment of the turn' });
    await slider.focus();
    await page.keyboard.press('Home');
    await state('not running');
    const words = page.getByRole('complementary', { name: 'The machine in words' });
    const replayed: (string | null)[] = [];
    const count = await moments.count();
    for (let moment = 1; moment < count; moment += 1) {
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText(`${moment + 1} / ${count}`).waitFor();
      const isTold = (await page.getByText('it does not move the machine').count()) === 0;
      if (isTold) replayed.push(await words.getByRole('status').textContent());
    }
    // Live, a machine that begins is told twice: where it is, and that it has started.
    expect(replayed).toEqual(livedStates.slice(1));
    await lit('turn.cancelled');
    await page.getByRole('button', { name: 'Prev' }).click();
    await state('cancelling');
    await slider.focus();
    await page.keyboard.press('Home');
    await state('not running');
    await page.keyboard.press('ArrowRight');
    await state('preparing');
    await lit('turn.preparing');
    await moments.getByText('approval.requested').click();
    await state('executingTools › running');
    expect(opened.errors).toEqual([]);
  });

  it('is chosen among those of the session', async () => {
    await using setup = await open();
    const { page, say, model, state, opened } = setup;
    await page.getByRole('button', { name: 'Past turn' }).click();
    await page.getByText('No turn of this session has begun yet.').waitFor();
    for (const [index, message] of ['first', 'second'].entries()) {
      await say(message);
      (await model.call(index)).answer(`reply to ${message}`);
    }
    const chooser = page.getByLabel('Turn', { exact: true });
    await chooser.locator('option', { hasText: 'second' }).waitFor({ state: 'attached' });
    await chooser.selectOption({ label: (await chooser.locator('option').allTextContents())[1] ?? '' });
    await page.getByRole('slider').focus();
    await page.keyboard.press('End');
    await state('completed');
    expect(opened.errors).toEqual([]);
  });
});

/** The time in the page stands still from here on, until the test moves it. */
async function stopTime(page: Setup['page']): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

describe('a turn that is over', () => {
  /** A turn without tools, which has ended. */
  async function afterTurn({ page, say, model, state }: Setup) {
    await say('hello');
    (await model.call(0)).answer('Hi.');
    await state('completed');
    // All events of the turn have come, too.
    await page.getByRole('button', { name: 'Past turn' }).click();
    await page.getByText('6 / 6', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    await state('completed');
  }

  it('stays in the chart, marked as finished, until the next one begins', async () => {
    await using setup = await open();
    const { page, say, model, state, lit, opened } = setup;
    await afterTurn(setup);
    await lit('turn.completed');
    const bar = page.getByText('The chart stays like this until the next turn begins');
    await bar.waitFor();
    await page.getByRole('radio', { name: 'Turn of s completed' }).waitFor();
    // The service has forgotten the machine. The log tells how it ended.
    await page.reload();
    await state('completed');
    await lit('turn.completed');
    await bar.waitFor();
    await say('again');
    await model.call(1);
    await state('callingModel › thinking');
    expect(await bar.count()).toBe(0);
    expect(opened.errors).toEqual([]);
  });

  it('is played back at the chosen speed, and pauses', async () => {
    await using setup = await open();
    const { page, state, lit, opened } = setup;
    await afterTurn(setup);
    await stopTime(page);
    await page.getByRole('button', { name: 'Play it back' }).click();
    const at = (position: number) => page.getByText(`${position} / 6`, { exact: true }).waitFor();
    await at(1);
    await page.clock.runFor(699);
    await at(1);
    await page.clock.runFor(1);
    await at(2);
    await state('preparing');
    await page.getByRole('button', { name: '4×' }).click();
    await page.clock.runFor(175);
    await at(3);
    await lit('turn.callingModel', 'turn.callingModel.thinking');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.clock.runFor(60_000);
    await at(3);
    await page.getByRole('button', { name: '0.5×' }).click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.clock.runFor(1_399);
    await at(3);
    await page.clock.runFor(1);
    await at(4);
    for (const position of [5, 6]) {
      await page.clock.runFor(1_400);
      await at(position);
    }
    await state('completed');
    // At the end, it stops by itself, and would begin again.
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await at(1);
    expect(opened.errors).toEqual([]);
  });

  it('is played and gone through by keys', async () => {
    await using setup = await open();
    const { page, opened } = setup;
    await afterTurn(setup);
    await stopTime(page);
    await page.getByRole('button', { name: 'Past turn' }).click();
    const at = (position: number) => page.getByText(`${position} / 6`, { exact: true }).waitFor();
    await at(6);
    await page.getByRole('region', { name: /^Chart of the turn machine/ }).focus();
    await page.keyboard.press(',');
    await page.keyboard.press(',');
    await at(4);
    await page.keyboard.press('.');
    await at(5);
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.clock.runFor(700);
    await at(6);
    expect(opened.errors).toEqual([]);
  });
});

describe('the statecharts', () => {
  it('keep their text inside its boxes at every zoom', async () => {
    await using setup = await open();
    const { page, opened } = setup;
    const chart = page.getByRole('region', { name: /^Chart of the turn machine/ });
    await chart.locator('[data-state="turn.preparing"]').waitFor();
    for (const { key, times } of [
      { key: '0', times: 1 },
      { key: '-', times: 6 },
      { key: '+', times: 12 },
    ])
      for (let time = 0; time < times; time += 1) {
        await chart.focus();
        await page.keyboard.press(key);
        expect(await page.evaluate<string[]>(TEXT_OUTSIDE)).toEqual([]);
      }
    expect(opened.errors).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('are accessible in %s', async (colorScheme) => {
    await using setup = await open({ colorScheme });
    const { page, state } = setup;
    await upToApproval(setup);
    await expectAccessible(page);
    await page.getByText('What can happen next').click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Past turn' }).click();
    await page.getByRole('button', { name: 'Prev' }).click();
    await state('executingTools › running');
    await expectAccessible(page);
  });

  it('stand above their words on a small display', async () => {
    await using setup = await open({ viewport: { width: 390, height: 844 } });
    const { page } = setup;
    await upToApproval(setup);
    const chart = await page.getByRole('region', { name: /^Chart of the turn machine/ }).boundingBox();
    const words = await page.getByRole('complementary', { name: 'The machine in words' }).boundingBox();
    expect(chart && words && words.y >= chart.y + chart.height).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(page);
  });

  it('follow the active state on a small display, until a finger moves them', async () => {
    await using setup = await open({ viewport: { width: 390, height: 844 }, hasTouch: true });
    const { page, opened } = setup;
    await upToApproval(setup);
    const chart = page.getByRole('region', { name: /^Chart of the turn machine/ });
    const active = chart.locator('[data-state="turn.executingTools.awaitingApproval"]');
    const follow = page.getByRole('button', { name: 'Follow' });
    expect(await follow.getAttribute('aria-pressed')).toBe('true');
    const middle = async (): Promise<number> => {
      const [box, frame] = [await active.boundingBox(), await chart.boundingBox()];
      return box && frame ? Math.abs(box.x + box.width / 2 - frame.x - frame.width / 2) : Number.NaN;
    };
    await expect.poll(middle).toBeLessThan(3);
    // Text is large enough to read.
    expect((await active.boundingBox())?.height).toBeGreaterThan(20);
    const frame = (await chart.boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.move(frame.x + 60, frame.y + 200);
    await page.mouse.down();
    await page.mouse.move(frame.x + 160, frame.y + 220, { steps: 4 });
    await page.mouse.up();
    await expect.poll(middle).toBeGreaterThan(60);
    expect(await follow.getAttribute('aria-pressed')).toBe('false');
    await page.getByRole('button', { name: 'Past turn' }).click();
    for (const name of ['Play', 'Prev', 'Next', '4×', 'Fit']) {
      const box = await page.getByRole('button', { name, exact: true }).boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844).toBe(true);
    }
    expect(opened.errors).toEqual([]);
  });
});

/** Names and lines of states that are cut off, or reach out of their state. */
const TEXT_OUTSIDE = `[...document.querySelectorAll('[data-state] :is(strong, span)')]
  .filter((text) => {
    const inner = text.getBoundingClientRect();
    const outer = text.closest('[data-state]').getBoundingClientRect();
    return text.scrollWidth > text.clientWidth || inner.left < outer.left || inner.right > outer.right;
  })
  .map((text) => text.textContent)`;
