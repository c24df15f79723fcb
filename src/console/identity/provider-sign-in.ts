import { accountOf } from '../service/account.ts';
import { forgetKey, keepKey } from '../service/kept-key.ts';
import { forgetProvider, keepPlace, keepProvider, keptProvider, takePlace } from './kept-provider.ts';
import type { Provider } from './provider.ts';
import { signInWays } from './sign-in-ways.ts';

/** Leaves the page for the provider. Rejects with an error for people. */
export async function signInThrough(provider: Provider): Promise<void> {
  const { providerProblem } = await import('./provider-problem.ts');
  if (!window.isSecureContext) {
    throw new Error('Browsers sign in through a provider only on https:// pages, or on the machine itself.');
  }
  try {
    const { visitProvider } = await import('./oidc.ts');
    keepPlace();
    await visitProvider(provider);
  } catch (error) {
    throw providerProblem(error, provider);
  }
}

/**
 * Ends a sign-in if the provider has sent the reader to this page, and reloads the page. Null if it has not.
 * Rejects with an error for people.
 */
export function returnedFromProvider(): Promise<void> | null {
  const { href, search } = window.location;
  const answer = new URLSearchParams(search);
  if (!answer.has('state') || !(answer.has('code') || answer.has('error'))) return null;
  // The code must not stay in the history, and a reload must not use it again.
  window.history.replaceState(null, '', takePlace());
  return endSignIn(href);
}

async function endSignIn(url: string): Promise<void> {
  const { provider } = await signInWays();
  if (!provider) throw new Error('This service has no identity provider to sign in with.');
  const { providerProblem } = await import('./provider-problem.ts');
  try {
    const { tokenOf } = await import('./oidc.ts');
    const token = await tokenOf(provider, url);
    if (token.split('.').length !== 3) throw new Error(NO_JWT);
    await accountOf(token);
    keepProvider(provider);
    keepKey(token);
    window.location.reload();
  } catch (error) {
    throw providerProblem(error, provider);
  }
}

const NO_JWT =
  'its access token is not a JWT. An administrator must set auth.console.parameters, for example resource or audience.';

/** Forgets the sign-in, also at the provider, and reloads the page, so that nothing of the account remains in it. */
export async function signOut(): Promise<void> {
  const provider = keptProvider();
  forgetKey();
  forgetProvider();
  // Also unsent messages, and tokens. The provider needs one of the tokens, and no code runs after the visit to it.
  const forgetAll = () => sessionStorage.clear();
  window.addEventListener('pagehide', forgetAll);
  // If the provider cannot be visited, only the sign-in of this page ends.
  if (provider !== null) await leave(provider).catch(() => undefined);
  forgetAll();
  window.location.reload();
}

async function leave(provider: Provider): Promise<void> {
  const { leaveProvider } = await import('./oidc.ts');
  await leaveProvider(provider);
}
