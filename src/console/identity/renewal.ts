import { keptKey, replaceKey } from '../service/kept-key.ts';
import { keptProvider } from './kept-provider.ts';

/**
 * Another key for one that has ended or is about to; null if there is none. Rejects if the provider does not answer.
 * @param ended the key that is no longer good.
 */
export async function renewedKey(ended: string | null): Promise<string | null> {
  const provider = keptProvider();
  if (provider === null || ended === null) return null;
  const { anotherToken } = await import('./oidc.ts');
  // A provider takes each refresh token once, so that two renewals at a time would end the sign-in.
  return navigator.locks.request('agent-service.renewal', async () => {
    const kept = keptKey();
    if (kept !== ended) return kept;
    const token = await anotherToken(provider);
    if (token !== null) replaceKey(token);
    return token;
  });
}
