import { useAccount } from '../service/account.ts';
import { forgetKey } from '../service/kept-key.ts';
import { Button } from '../ui/button.tsx';
import style from './sign-in.module.css';

/** Who is signed in. Nothing where the service authenticates nobody. */
export function SignedIn() {
  const account = useAccount();
  if (account === null) return null;
  const { principal, tenant, roles } = account;
  return (
    <div className={style.account}>
      <span title={`${principal} of ${tenant}: ${roles.join(', ')}`}>Signed in as {principal}</span>
      <Button kind="quiet" onClick={signOut}>
        Sign out
      </Button>
    </div>
  );
}

/** Reloads the page, so that nothing of the account remains in it. */
function signOut(): void {
  forgetKey();
  window.location.reload();
}
