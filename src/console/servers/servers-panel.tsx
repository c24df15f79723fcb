import { useState } from 'react';
import { useMay } from '../service/account.ts';
import { Button } from '../ui/button.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { ConnectForm } from './connect-form.tsx';
import { ServerCard } from './server-card.tsx';
import { ServerLog } from './server-log.tsx';
import style from './servers.module.css';
import { Tools } from './tools.tsx';
import { useServers } from './use-servers.ts';

/** The tool servers with their status, the form for another one, and the tools of the chosen server. */
export function ServersPanel() {
  const mayWrite = useMay('servers:write');
  const { servers, problem, refresh } = useServers();
  const [chosen, setChosen] = useState<string | null>(null);
  const [isConnecting, setConnecting] = useState(false);
  const shown = servers?.find(({ id }) => id === chosen) ?? servers?.[0];
  return (
    <>
      <PanelHeader title="Tool servers">
        {mayWrite && (
          <Button kind="primary" onClick={() => setConnecting(!isConnecting)} aria-expanded={isConnecting}>
            Connect a server
          </Button>
        )}
      </PanelHeader>
      {problem !== null && (
        <p role="alert" className={style.problem}>
          {problem}
        </p>
      )}
      {isConnecting && (
        <ConnectForm
          onConnected={(id) => {
            setConnecting(false);
            setChosen(id);
            refresh();
          }}
          onCancel={() => setConnecting(false)}
        />
      )}
      <div className={style.columns}>
        <section aria-label="Servers" className={style.list}>
          {servers?.length === 0 && <p className={style.empty}>No tool server is configured.</p>}
          {servers?.map((server) => (
            <ServerCard
              key={server.id}
              server={server}
              isChosen={server === shown}
              onChoose={() => setChosen(server.id)}
              onChanged={refresh}
            />
          ))}
        </section>
        {shown && (
          <div className={style.tools}>
            {mayWrite && <ServerLog key={shown.id} server={shown} />}
            <Tools key={`${shown.id} ${shown.status}`} server={shown} />
          </div>
        )}
      </div>
    </>
  );
}
