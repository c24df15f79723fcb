import type { Scope } from '../../core/access/scopes.ts';
import { useAccount } from '../service/account.ts';
import style from './panel-problem.module.css';

/** Stands in for a panel that the key does not allow. */
export function PanelForbidden({ scope }: { readonly scope: Scope }) {
  const account = useAccount();
  return (
    <div className={style.problem}>
      <h2>{account ? 'Your key does not allow this panel' : 'There is nothing here'}</h2>
      <p>
        {account ? (
          <>
            It needs the scope <code>{scope}</code>, which {account.principal} does not have.
          </>
        ) : (
          'This service authenticates nobody, so it has no keys.'
        )}
      </p>
    </div>
  );
}
