import { describe, expect, it } from 'vitest';
import { type LoginOptions, LoginProvider, logIn } from '../support/access/login-provider.ts';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: 'you said $1' }] },
  limits: { requestsPerMinute: false },
});

/** The page of a service whose people sign in through a provider. */
async function open(options: Partial<LoginOptions> = {}) {
  const provider = await LoginProvider.start({ yaml: YAML, ...options });
  const { service } = provider;
  const opened = await ConsolePage.visit(service, `${service.url}/#/chat/demo`);
  const { page } = opened;
  // The provider's page has a font of another site, which tests cannot reach.
  await page.route('**/fonts.googleapis.com/**', (route) => route.abort());
  const message = page.getByRole('textbox', { name: 'Message' });
  return {
    page,
    provider,
    service,
    message,
    begin: () => page.getByRole('button', { name: 'Sign in with sso' }).click(),
    say: async (text: string): Promise<void> => {
      await message.fill(text);
      await message.press('Enter');
      await page.getByText(`you said ${text}`).waitFor();
    },
    shot: async (name: string): Promise<void> => {
      const { SCREENSHOTS } = process.env;
      if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
    },
    stored: () => page.evaluate<number>('sessionStorage.length'),
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

describe('signing in through a provider', () => {
  it('comes back to the same place, chats, and signs out at the provider, too', async () => {
    await using opened = await open();
    const { page, service, say, message, shot } = opened;
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await page.getByRole('button', { name: 'Sign in with sso' }).waitFor();
    await expectAccessible(page);
    await shot('oidc-sign-in');
    expect(urls.filter((url) => url.includes('/oidc'))).toEqual([]);
    await opened.begin();
    await logIn(page, 'ada');
    await page.getByText('Signed in as sso:ada').waitFor();
    expect(page.url()).toBe(`${service.url}/#/chat/demo`);
    await page.getByText('default: user').waitFor();
    await say('hello');
    await expectAccessible(page);
    await shot('oidc-signed-in');
    await page.reload();
    await page.getByText('you said hello').waitFor();

    await message.fill('half a thought');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: /yes/i }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(await opened.stored()).toBe(0);
    await opened.begin();
    // Without its session, the provider asks who it is.
    await logIn(page, 'bob');
    await page.getByText('Signed in as sso:bob').waitFor();
    expect(await page.getByText('you said hello').count()).toBe(0);
  });

  it.each([
    ['the provider does not answer', ({ provider }: Opened) => provider.stopAnswering()],
    [
      'the files of the console cannot be loaded',
      ({ page }: Opened) => page.route('**/oidc*', (route) => route.abort()),
    ],
  ])('signs out of the console alone if %s, and leaves nothing', async (_, breakDown) => {
    await using opened = await open();
    const { page, message } = opened;
    await opened.begin();
    await logIn(page, 'ada');
    await message.fill('half a thought');
    await breakDown(opened);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(await opened.stored()).toBe(0);
  });

  it('renews the token before its end, while the page stays as it is', async () => {
    await using opened = await open({ tokenSeconds: 6 });
    const { page, provider, say, message } = opened;
    await opened.begin();
    await logIn(page, 'ada');
    await say('hello');
    await page.evaluate('window.isSamePage = true');
    await message.fill('half a thought');
    const renewals = () => provider.grants.filter((grant) => grant === 'refresh_token').length;
    await expect.poll(renewals).toBeGreaterThan(2);
    expect(await page.evaluate<boolean>('window.isSamePage === true')).toBe(true);
    expect(await message.inputValue()).toBe('half a thought');
    await say('still here');
    await page.getByText('you said hello').waitFor();
    expect(await page.getByText(/sign-in ends/).count()).toBe(0);
  });

  it('says when the sign-in ends if there is no refresh token, and loses no unsent text', async () => {
    await using opened = await open({ tokenSeconds: 8, refreshes: false });
    const { page, say, message, shot } = opened;
    await opened.begin();
    await logIn(page, 'ada');
    await say('hello');
    await message.fill('half a thought');
    await page.getByText(/^Your sign-in ends at/).waitFor();
    await expectAccessible(page);
    await shot('oidc-ending');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByText('you said hello').waitFor();
    expect(await message.inputValue()).toBe('half a thought');
    // This time nobody clicks.
    await page.getByText(/^You were signed out: /).waitFor();
    await opened.begin();
    await page.getByText('you said hello').waitFor();
    expect(await message.inputValue()).toBe('half a thought');
  });

  it('says in plain words that the provider refused, and that it does not answer', async () => {
    await using opened = await open();
    const { page, service, provider, shot } = opened;
    await opened.begin();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page
      .getByRole('alert')
      .getByText(/^sso did not sign you in \(access_denied\)\. The sign-in was refused or given up\./)
      .waitFor();
    expect(page.url()).toBe(`${service.url}/#/chat/demo`);
    await shot('oidc-refused');
    await page.goto(`${service.url}/?code=stolen&state=unknown`);
    await page.getByText('This answer belongs to no sign-in of this tab').waitFor();
    expect(page.url()).toBe(`${service.url}/`);
    await provider.stopAnswering();
    await opened.begin();
    await page.getByText(/^sso does not answer at/).waitFor();
    await shot('oidc-away');
  });

  it('refuses a token that is no JWT, and says which setting is missing', async () => {
    await using opened = await open({ console: { parameters: {} } });
    const { page } = opened;
    await opened.begin();
    await logIn(page, 'ada');
    await page.getByText(/its access token is not a JWT.*auth\.console\.parameters/).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Sign in with sso' }).count()).toBe(1);
  });
});
