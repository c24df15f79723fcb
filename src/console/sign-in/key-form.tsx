import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { forgetProvider } from '../identity/kept-provider.ts';
import { accountOf } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { keepKey } from '../service/kept-key.ts';
import { Button } from '../ui/button.tsx';
import style from './sign-in.module.css';

interface KeyFormProps {
  /** Says why the key is refused; null for no reason. */
  readonly onProblem: (problem: string | null) => void;
  /** Id of the element that says why. */
  readonly problemId: string;
  /** Whether it is the only way to sign in. */
  readonly isOnly: boolean;
}

/** Signs in with an API key. */
export function KeyForm({ onProblem, problemId, isOnly }: KeyFormProps) {
  const [key, setKey] = useState('');
  const [isRefused, setRefused] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isOnly) input.current?.focus();
  }, [isOnly]);
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setAsking(true);
    onProblem(null);
    setRefused(false);
    try {
      await signIn(key.trim());
    } catch (thrown) {
      onProblem(errorText(thrown));
      setRefused(true);
      setAsking(false);
    }
  };
  return (
    <form className={style.form} onSubmit={(event) => void onSubmit(event)}>
      <label htmlFor={id}>API key</label>
      <input
        ref={input}
        id={id}
        type="password"
        value={key}
        onChange={(event) => setKey(event.target.value)}
        placeholder="as_…"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={isRefused}
        aria-describedby={`${problemId} ${id}-note`}
        required
      />
      <Button type="submit" kind={isOnly ? 'primary' : 'plain'} disabled={isAsking}>
        {isAsking ? 'Signing in…' : 'Sign in'}
      </Button>
      <p id={`${id}-note`} className={style.note}>
        The key stays in this tab, in the session storage of the browser, until you sign out or close the tab.
        An administrator creates keys with <code>agent-service keys create</code>.
      </p>
    </form>
  );
}

/** Reloads the page, so that nothing remains of whoever was signed in before. Rejects when the key is refused. */
async function signIn(key: string): Promise<void> {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error('This is not a key: a key has only letters, digits and signs, and no spaces.');
  await accountOf(key);
  forgetProvider();
  keepKey(key);
  window.location.reload();
}
