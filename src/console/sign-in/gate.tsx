import { type ReactNode, useEffect, useState } from 'react';
import { PanelProblem } from '../app/panel-problem.tsx';
import { type Account, AccountContext, accountOf } from '../service/account.ts';
import { ApiError } from '../service/api.ts';
import { forgetKey, keptKey } from '../service/kept-key.ts';
import { onSignedOut } from '../service/signed-out.ts';
import { SignInPage } from './sign-in-page.tsx';

type Entry =
  | { readonly kind: 'asking' }
  | { readonly kind: 'in'; readonly account: Account | null }
  /** `problem` is null for somebody who was not signed in before. */
  | { readonly kind: 'out'; readonly problem: Error | null }
  | { readonly kind: 'failed'; readonly error: Error };

/**
 * Shows the page to whom the service answers, and the sign-in page to others. A service that authenticates nobody gets
 * no request more than without this.
 */
export function Gate({ children }: { readonly children: ReactNode }) {
  const [entry, setEntry] = useState<Entry>(() =>
    keptKey() === null ? { kind: 'in', account: null } : { kind: 'asking' },
  );
  const isAsking = entry.kind === 'asking';
  useEffect(() => onSignedOut((error) => setEntry(signedOut(error))), []);
  useEffect(() => {
    const key = isAsking ? keptKey() : null;
    return key === null ? undefined : ask(key, setEntry);
  }, [isAsking]);
  switch (entry.kind) {
    case 'asking':
      return null;
    case 'in':
      return <AccountContext value={entry.account}>{children}</AccountContext>;
    case 'out':
      return <SignInPage problem={entry.problem} />;
    case 'failed':
      return <PanelProblem error={entry.error} onRetry={() => setEntry({ kind: 'asking' })} />;
    default:
      return entry satisfies never;
  }
}

/** @returns a function that stops to ask. */
function ask(key: string, onEntry: (entry: Entry) => void): () => void {
  const asking = new AbortController();
  accountOf(key, asking.signal).then(
    (account) => onEntry({ kind: 'in', account }),
    (error: unknown) => {
      if (asking.signal.aborted || !(error instanceof Error)) return;
      const isRefused = error instanceof ApiError && error.code === 'UNAUTHORIZED';
      onEntry(isRefused ? signedOut(error) : { kind: 'failed', error });
    },
  );
  return () => asking.abort();
}

/** Forgets the key, which is no longer good. */
function signedOut(error: Error): Entry {
  const wasIn = keptKey() !== null;
  forgetKey();
  return { kind: 'out', problem: wasIn ? error : null };
}
