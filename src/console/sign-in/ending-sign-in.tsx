import { useEffect, useState } from 'react';
import { keptProvider } from '../identity/kept-provider.ts';
import { signInThrough } from '../identity/provider-sign-in.ts';
import { renewedKey } from '../identity/renewal.ts';
import type { Account } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { keptKey } from '../service/kept-key.ts';
import { Button } from '../ui/button.tsx';
import { renewalDelayMs } from './renewal-delay.ts';
import style from './sign-in.module.css';

/** Renews the key before it ends. If there is no other key, it says when the sign-in ends. */
export function EndingSignIn({ account }: { readonly account: Account }) {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setProblem(null);
    const delayMs = renewalDelayMs(account);
    if (delayMs === null) return undefined;
    const timer = setTimeout(() => {
      renewedKey(keptKey()).then(
        (key) => key === null && setProblem(''),
        (error: unknown) => setProblem(errorText(error)),
      );
    }, delayMs);
    return () => clearTimeout(timer);
  }, [account]);
  const provider = keptProvider();
  const end = account.expiresAt && new Date(account.expiresAt).toLocaleTimeString();
  const onSignIn = () => {
    if (provider) signInThrough(provider).catch((error: unknown) => setProblem(errorText(error)));
  };
  return (
    <div role="status" className={problem === null ? '' : style.ending}>
      {problem !== null && (
        <>
          <span>
            Your sign-in ends at {end}. {problem} An unsent message stays in its box.
          </span>
          {provider && <Button onClick={onSignIn}>Sign in again</Button>}
        </>
      )}
    </div>
  );
}
