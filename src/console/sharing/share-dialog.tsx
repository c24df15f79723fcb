import { useCallback, useEffect, useState } from 'react';
import type { Grant } from '../../core/access/grant.ts';
import { get, remove } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { grantsPath } from '../service/paths.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { GrantForm } from './grant-form.tsx';
import style from './sharing.module.css';

const meanings: Readonly<Record<Grant['access'], string>> = {
  read: 'may read',
  talk: 'may read and talk',
  approve: 'may read and approve',
};

interface ShareDialogProps {
  readonly sessionId: string;
  /** What the list calls the session. */
  readonly title: string;
  readonly onClose: () => void;
}

/** With whom the session is shared. The owner shares it with more, and takes grants back. */
export function ShareDialog({ sessionId, title, onClose }: ShareDialogProps) {
  const [grants, setGrants] = useState<readonly Grant[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const refresh = useCallback(() => {
    get<{ grants: readonly Grant[] }>(grantsPath(sessionId)).then(
      (answer) => setGrants(answer.grants),
      (error: unknown) => setProblem(errorText(error)),
    );
  }, [sessionId]);
  useEffect(refresh, [refresh]);
  const revoke = (grantId: string) => {
    setProblem(null);
    remove(`${grantsPath(sessionId)}/${grantId}`).then(refresh, (error: unknown) =>
      setProblem(errorText(error)),
    );
  };
  return (
    <Dialog title={`Share “${title}”`} onClose={onClose}>
      {grants?.length === 0 && <p className={style.note}>Only you and administrators can see it.</p>}
      <ul className={style.grants} aria-label="Shared with">
        {grants?.map((grant) => (
          <li key={grant.grantId}>
            <span>
              {nameOf(grant)} <small>{meanings[grant.access]}</small>
            </span>
            <Button
              kind="danger"
              onClick={() => revoke(grant.grantId)}
              aria-label={`Revoke what ${nameOf(grant)} ${meanings[grant.access]}`}
            >
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <p role="alert" className={style.error}>
        {problem}
      </p>
      <GrantForm sessionId={sessionId} onAdded={refresh} onProblem={setProblem} />
    </Dialog>
  );
}

function nameOf({ principal, role }: Grant): string {
  return principal ?? `everybody with the role ${role}`;
}
