import { type ReactNode, useEffect, useState } from 'react';
import { PanelProblem } from '../app/panel-problem.tsx';
import { forgetProvider } from '../identity/kept-provider.ts';
import { type Account, AccountContext, accountOf } from '../service/account.ts';
import { ApiError, errorText } from '../service/api-error.ts';
import { forgetKey, keptKey, onKeyReplaced } from '../service/kept-key.ts';
import { onSignedOut, tellSignedOut } from '../service/signed-out.ts';
import { SignInPage } from './sign-in-page.tsx';

type Entry =
  | { readonly kind: 'asking' }
  | { readonly kind: 'in'; readonly account: Account | null }
  /** `problem` is null for somebody who was not signed in before. */
  | { readonly kind: 'out'; readonly problem: string | null }
  | { readonly kind: 'failed'; readonly error: Error };

interface GateProps {
  /** Ends a sign-in through a provider, and reloads the page then. Null if there is none to end. */
  readonly returned: Promise<void> | null;
  readonly children: ReactNode;
}

/**
 * Shows the page to whom the service answers, and the sign-in page to others. A service that authenticates nobody gets
 * no request more than without this.
 */
export function Gate({ returned, children }: GateProps) {
  const [entry, setEntry] = useState<Entry>(() =>
    returned === null && keptKey() === null ? { kind: 'in', account: null } : { kind: 'asking' },
  );
  const isAsking = entry.kind === 'asking';
  useEffect(
    () =>
      onSignedOut((error) => {
        const next = signedOut(error);
        // A refusal of a request without a key must not replace the reason of the sign-out.
        setEntry((present) => (present.kind === 'out' && next.problem === null ? present : next));
      }),
    [],
  );
  useEffect(() => {
    returned?.catch((error: unknown) => setEntry({ kind: 'out', problem: errorText(error) }));
  }, [returned]);
  useEffect(() => {
    const key = isAsking ? keptKey() : null;
    return key === null ? undefined : ask(key, setEntry);
  }, [isAsking]);
  // What another key allows may be something else.
  useEffect(() => {
    // If the service does not answer, what is known stays, and so does the page with its unsent texts.
    const take = (next: Entry) => next.kind !== 'failed' && setEntry(next);
    return onKeyReplaced(() => void ask(keptKey() ?? '', take));
  }, []);
  switch (entry.kind) {
    case 'asking':
      return returned && <p role="status">Signing in…</p>;
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
      if (error instanceof ApiError && error.code === 'UNAUTHORIZED') tellSignedOut(error, key);
      else onEntry({ kind: 'failed', error });
    },
  );
  return () => asking.abort();
}

/** Forgets the key, which is no longer good. Unsent messages stay. */
function signedOut(error: Error): Extract<Entry, { kind: 'out' }> {
  const wasIn = keptKey() !== null;
  forgetKey();
  forgetProvider();
  return { kind: 'out', problem: wasIn ? `You were signed out: ${errorText(error)}` : null };
}
