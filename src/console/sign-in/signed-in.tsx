import { signOut } from '../identity/provider-sign-in.ts';
import { useAccount } from '../service/account.ts';
import { Button } from '../ui/button.tsx';
import style from './sign-in.module.css';

/** Who is signed in. Nothing where the service authenticates nobody. */
export function SignedIn() {
  const account = useAccount();
  if (account === null) return null;
  const { principal, tenant, roles } = account;
  return (
    <div className={style.account}>
      <p>
        <span title={principal}>Signed in as {principal}</span>
        <small>
          {tenant}: {roles.join(', ') || 'no roles'}
        </small>
      </p>
      <Button kind="quiet" onClick={() => void signOut()}>
        Sign out
      </Button>
    </div>
  );
}
