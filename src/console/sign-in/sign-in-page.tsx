import { useEffect, useId, useState } from 'react';
import { useTheme } from '../app/theme.ts';
import icon from '../icon.svg';
import type { SignInWays } from '../identity/provider.ts';
import { signInWays } from '../identity/sign-in-ways.ts';
import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';
import { KeyForm } from './key-form.tsx';
import { ProviderButton } from './provider-button.tsx';
import style from './sign-in.module.css';

/** @param problem why the reader was signed out, or could not sign in. */
export function SignInPage({ problem }: { readonly problem: string | null }) {
  const [error, setError] = useState(problem);
  const [ways, setWays] = useState<SignInWays | 'asking' | 'unknown'>('asking');
  const id = useId();
  useTheme();
  useEffect(() => setError(problem), [problem]);
  const isAsking = ways === 'asking';
  useEffect(() => {
    if (!isAsking) return undefined;
    const asking = new AbortController();
    signInWays(asking.signal).then(setWays, (thrown: unknown) => {
      if (asking.signal.aborted) return;
      setError(errorText(thrown));
      setWays('unknown');
    });
    return () => asking.abort();
  }, [isAsking]);
  return (
    <main className={style.page}>
      <div className={style.card}>
        <img src={icon} alt="" width="36" height="36" />
        <h1>Sign in</h1>
        <p id={id} className={style.error} role="alert">
          {error}
        </p>
        {ways === 'unknown' && <Button onClick={() => setWays('asking')}>Try again</Button>}
        {typeof ways === 'object' && <Ways ways={ways} problemId={id} onProblem={setError} />}
      </div>
    </main>
  );
}

interface WaysProps {
  readonly ways: SignInWays;
  readonly problemId: string;
  readonly onProblem: (problem: string | null) => void;
}

function Ways({ ways: { provider, apiKeys }, problemId, onProblem }: WaysProps) {
  if (!provider && !apiKeys) {
    return (
      <p className={style.note}>
        People cannot sign in to this console. An administrator must set <code>auth.apiKeys</code> or{' '}
        <code>auth.console</code> in the service file.
      </p>
    );
  }
  return (
    <>
      {provider && <ProviderButton provider={provider} onProblem={onProblem} />}
      {provider && apiKeys && <p className={style.or}>or</p>}
      {apiKeys && <KeyForm onProblem={onProblem} problemId={problemId} isOnly={provider === undefined} />}
    </>
  );
}
