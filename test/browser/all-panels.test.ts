import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { graveIssues, overflowPx, unreachableByKeyboard } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { eventually } from '../support/project/eventually.ts';
import { viewOf } from '../support/sessions/session-api.ts';
import { scriptableServer } from '../support/tools/mcp/tool-servers.ts';

const SESSION = 'walk';
/** Wider than a small window. */
const ACCOUNTS = 'DE89 3704 0044 0532 0130 00'.repeat(8);
const AGENT = {
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      {
        when: '^sum',
        reply: 'I **add**:',
        toolCalls: [{ tool: 'add', arguments: { a: 1, b: 2 } }],
        // More than the chat has room for.
        afterTools: 'A long story.\n\n'.repeat(40),
      },
      { when: '^ask', reply: 'May I?', toolCalls: [{ tool: 'echo', arguments: { message: ACCOUNTS } }] },
    ],
  },
  mcpServers: { tools: scriptableServer() },
  approval: { rules: [{ server: 'tools', tool: 'echo', policy: 'ask' }], expiresAfterMs: 3_600_000 },
  limits: { requestsPerMinute: false },
};

interface View {
  readonly name: string;
  readonly at: string;
  /** A small window has no room for it. */
  readonly isWide?: boolean;
  /** Resolves when the view shows what it is to show. */
  readonly ready: (page: Page) => Promise<unknown>;
}

const approve = (page: Page) => page.getByRole('main').getByRole('button', { name: 'Approve' }).first();
const chart = (page: Page) => page.locator('[data-state][data-active="true"]').first();
/** Chooses the first turn of the chat, for what stands beside it. */
const choose = async (page: Page) => {
  await approve(page).waitFor();
  await page.getByRole('button', { name: 'Steps' }).first().click();
};

const views: readonly View[] = [
  { name: 'chat', at: `#/chat/${SESSION}`, ready: (page) => approve(page).waitFor() },
  { name: 'empty chat', at: '#/chat/empty', ready: (page) => page.getByRole('textbox').first().waitFor() },
  {
    name: 'chat and timeline',
    at: `#/chat/${SESSION}?beside=timeline`,
    ready: (page) => approve(page).waitFor(),
  },
  {
    name: 'chat and statechart',
    at: `#/chat/${SESSION}?beside=statecharts`,
    // A narrow window shows one of the two at a time.
    ready: (page) => chart(page).or(approve(page)).first().waitFor(),
  },
  {
    name: 'chat and timeline of a chosen turn',
    at: `#/chat/${SESSION}?beside=timeline`,
    isWide: true,
    ready: async (page) => {
      await choose(page);
      await page.getByText(/^Event 1\b/).waitFor();
    },
  },
  {
    name: 'chat and statechart of a chosen turn',
    at: `#/chat/${SESSION}?beside=statecharts`,
    isWide: true,
    ready: async (page) => {
      await choose(page);
      await page.getByText(/^(\d+) \/ \1$/).waitFor();
    },
  },
  {
    name: 'approvals',
    at: `#/approvals/${SESSION}`,
    ready: async (page) => {
      await approve(page).waitFor();
      await page
        .getByRole('link', { name: /^Approvals/ })
        .getByText('1 waiting')
        .waitFor();
    },
  },
  {
    name: 'timeline',
    at: `#/timeline/${SESSION}`,
    ready: (page) => page.getByRole('main').getByText('add').first().waitFor(),
  },
  {
    name: 'list of events',
    at: `#/timeline/${SESSION}?view=list`,
    ready: (page) => page.getByRole('option').first().waitFor(),
  },
  { name: 'statecharts', at: `#/statecharts/${SESSION}`, ready: (page) => chart(page).waitFor() },
  {
    name: 'tool servers',
    at: `#/servers/${SESSION}`,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Connect a server' }).click();
      await page.locator('summary', { hasText: 'Adds two numbers' }).click();
      await page.getByRole('button', { name: 'Run' }).first().waitFor();
      await page.getByText('Log of tools').click();
      await page.getByText('Nothing yet.').waitFor();
    },
  },
  {
    name: 'health',
    at: `#/health/${SESSION}`,
    ready: (page) => page.getByRole('img', { name: /^Memory: \d+ MB/ }).waitFor(),
  },
];

/** As wide as that, a window shows a panel beside the chat. */
const WIDE = 1280;
const windows = (['light', 'dark'] as const).flatMap((theme) =>
  [390, WIDE].map((width) => ({ theme, width })),
);

describe('every panel', () => {
  it.each(windows)('is accessible and fits, $theme, $width px wide', { timeout: 300_000 }, async (window) => {
    await using opened = await open(window);
    const { page, service } = opened;
    const findings: Record<string, string[]> = {};
    for (const { name, at, ready, isWide } of views) {
      if (isWide && window.width < WIDE) continue;
      await page.goto(`${service.url}/${at}`);
      await ready(page);
      const overflow = await overflowPx(page);
      const found = [
        ...(await graveIssues(page)),
        ...(overflow > 0 ? [`it is ${overflow} px too wide`] : []),
        // The theme changes nothing about it.
        ...(window.theme === 'light' ? await unreachableByKeyboard(page) : []),
      ];
      if (await isHeaderCut(page)) found.push('the header is lower than what it holds');
      if (found.length > 0) findings[name] = found;
    }
    expect(findings).toEqual({});
  });
});

it('the checks of every panel find what is wrong', async () => {
  await using opened = await open({ theme: 'light', width: 390 });
  const { page } = opened;
  // The page's own policy forbids styles in attributes.
  await page.evaluate(`{
    const main = document.querySelector('main');
    main.insertAdjacentHTML('afterbegin', '<button tabindex="-1"></button><p>pale</p>');
    const { style } = main.querySelector('p');
    style.cssText = 'width: 900px; position: relative; z-index: 9; color: #ddd; background: #fff';
  }`);
  expect((await graveIssues(page)).join()).toMatch(/button-name.*<button tabindex="-1">/);
  expect((await graveIssues(page)).join()).toMatch(/color-contrast.*pale/);
  expect(await overflowPx(page)).toBeGreaterThan(500);
  expect((await unreachableByKeyboard(page)).join()).toBe('<button tabindex="-1"></button>');
});

function isHeaderCut(page: Page): Promise<boolean> {
  return page.evaluate(`(() => {
    const header = document.querySelector('main header');
    return header !== null && header.scrollHeight > header.clientHeight + 1;
  })()`);
}

/** A session with a finished tool call, and one that waits for approval. */
async function open({ theme, width }: { theme: 'light' | 'dark'; width: number }): Promise<ConsolePage> {
  const context = { colorScheme: theme, viewport: { width, height: 800 } };
  const opened = await ConsolePage.open('', { yaml: JSON.stringify(AGENT) }, context);
  const { service } = opened;
  await service.post('/api/message-sync', { message: 'sum it up', sessionId: SESSION });
  await service.post('/api/message', { message: 'ask me', sessionId: SESSION });
  await eventually(
    () => viewOf(service, SESSION),
    ({ approvals }) => approvals.length > 0,
  );
  return opened;
}
