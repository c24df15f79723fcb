import { UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { Provider } from './provider.ts';

/*
 * The only file that loads the library. Import it dynamically, where somebody signs in through a provider.
 */

const PATIENCE_SECONDS = 10;

/** Leaves the page for the provider. Rejects if the provider does not answer. */
export async function visitProvider(provider: Provider): Promise<void> {
  await managerOf(provider).signinRedirect();
}

/**
 * Exchanges the answer of the provider for an access token.
 * @param url with which the provider has sent the reader back.
 */
export async function tokenOf(provider: Provider, url: string): Promise<string> {
  const user = await managerOf(provider).signinRedirectCallback(url);
  return user.access_token;
}

/** Another access token; null if the provider gave nothing to get one with. */
export async function anotherToken(provider: Provider): Promise<string | null> {
  const manager = managerOf(provider);
  const user = await manager.getUser();
  // The library would try an invisible frame, which the policy of the page forbids and browsers give no cookies.
  if (!user?.refresh_token) return null;
  const renewed = await manager.signinSilent({
    extraTokenParams: { ...provider.parameters },
    silentRequestTimeoutInSeconds: PATIENCE_SECONDS,
  });
  return renewed?.access_token ?? null;
}

/**
 * Leaves the page for the provider, to end its own session, too. Resolves without that if the provider offers no such
 * end, or later, when the browser shows this page again.
 */
export async function leaveProvider(provider: Provider): Promise<void> {
  const manager = managerOf(provider);
  if (!(await manager.metadataService.getEndSessionEndpoint())) return;
  // Parameters of the sign-in, such as `resource`, mean nothing here.
  await manager.signoutRedirect({ extraQueryParams: {} });
}

function managerOf({ issuer, clientId, scope, parameters }: Provider): UserManager {
  // The same for the pages of all agents, so that the provider knows one URL.
  const here = `${window.location.origin}/`;
  // Of this tab, like the key. The library's own default for its state is for all tabs.
  const store = new WebStorageStateStore({ store: sessionStorage });
  return new UserManager({
    authority: issuer,
    client_id: clientId,
    scope,
    redirect_uri: here,
    post_logout_redirect_uri: here,
    extraQueryParams: { ...parameters },
    extraTokenParams: { ...parameters },
    userStore: store,
    stateStore: store,
    automaticSilentRenew: false,
    requestTimeoutInSeconds: PATIENCE_SECONDS,
  });
}
