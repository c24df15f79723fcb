import { useState } from 'react';
import type { McpServerRecord, McpServerStatus } from '../../core/tool-server/mcp-server-record.ts';
import { useMay } from '../service/account.ts';
import { post, remove } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { serverPath } from '../service/paths.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { authorizationLink } from './authorization-link.ts';
import style from './servers.module.css';

const tones: Readonly<Record<McpServerStatus, Tone>> = {
  connected: 'good',
  connecting: 'accent',
  error: 'bad',
  disconnected: 'neutral',
};

interface ServerCardProps {
  readonly server: McpServerRecord;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly onChanged: () => void;
}

export function ServerCard({ server, isChosen, onChoose, onChanged }: ServerCardProps) {
  const { id, name, status, type, description, error } = server;
  const mayChange = useMay('servers:write');
  const [problem, setProblem] = useState<string | null>(null);
  const path = serverPath(id);
  const authorization = authorizationLink(server);
  const run = (request: Promise<unknown>) => {
    setProblem(null);
    request.catch((thrown: unknown) => setProblem(errorText(thrown))).finally(onChanged);
  };
  const said = problem ?? error;
  return (
    <article className={`${style.card} ${isChosen ? style.chosen : ''}`}>
      <button type="button" className={style.name} onClick={onChoose} aria-pressed={isChosen}>
        <strong>{name}</strong>
        <Badge tone={tones[status]}>{status}</Badge>
        <span className={style.muted}>{type}</span>
      </button>
      {description !== undefined && <p className={style.muted}>{description}</p>}
      {said !== undefined && <p className={style.error}>{said}</p>}
      <div className={style.actions}>
        {authorization !== null && (
          <ButtonLink kind="primary" href={authorization}>
            Authorize
          </ButtonLink>
        )}
        {mayChange && (
          <>
            <Button onClick={() => run(post(`${path}/reconnect`))}>Reconnect</Button>
            <Button kind="danger" onClick={() => run(remove(path))}>
              {status === 'disconnected' ? 'Forget' : 'Disconnect'}
            </Button>
          </>
        )}
      </div>
    </article>
  );
}
