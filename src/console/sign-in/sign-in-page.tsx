import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { useTheme } from '../app/theme.ts';
import icon from '../icon.svg';
import { accountOf } from '../service/account.ts';
import { errorText } from '../service/api.ts';
import { keepKey } from '../service/kept-key.ts';
import { Button } from '../ui/button.tsx';
import style from './sign-in.module.css';

/** @param problem why the key that was used until now is no longer good. */
export function SignInPage({ problem }: { readonly problem: Error | null }) {
  const [key, setKey] = useState('');
  const [error, setError] = useState(problem && `You were signed out: ${errorText(problem)}`);
  const [isAsking, setAsking] = useState(false);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useTheme();
  useEffect(() => input.current?.focus(), []);
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setAsking(true);
    setError(null);
    try {
      await signIn(key.trim());
    } catch (thrown) {
      setError(errorText(thrown));
      setAsking(false);
    }
  };
  return (
    <main className={style.page}>
      <form className={style.card} onSubmit={(event) => void onSubmit(event)}>
        <img src={icon} alt="" width="36" height="36" />
        <h1>Sign in</h1>
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
          aria-invalid={error !== null}
          aria-describedby={`${id}-error ${id}-note`}
          required
        />
        <p id={`${id}-error`} className={style.error} role="alert">
          {error}
        </p>
        <Button type="submit" kind="primary" disabled={isAsking}>
          {isAsking ? 'Signing in…' : 'Sign in'}
        </Button>
        <p id={`${id}-note`} className={style.note}>
          The key stays in this tab, in the session storage of the browser, until you sign out or close the
          tab. An administrator creates keys with <code>agent-service keys create</code>.
        </p>
      </form>
    </main>
  );
}

/** Reloads the page, so that nothing remains of whoever was signed in before. Rejects when the key is refused. */
async function signIn(key: string): Promise<void> {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error('This is not a key: a key has only letters, digits and signs, and no spaces.');
  await accountOf(key);
  keepKey(key);
  window.location.reload();
}
