import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { LiveView } from './live/live-view.tsx';
import { PastTurnsView } from './past/past-turns-view.tsx';

/** The state machines of the service, drawn from their definitions: as they run now, or as a past turn ran. */
export function StatechartsPanel() {
  const [isLive, setIsLive] = useState(true);
  return (
    <>
      <PanelHeader title="Statecharts">
        <Button kind={isLive ? 'primary' : 'plain'} aria-pressed={isLive} onClick={() => setIsLive(true)}>
          Live
        </Button>
        <Button kind={isLive ? 'plain' : 'primary'} aria-pressed={!isLive} onClick={() => setIsLive(false)}>
          Past turn
        </Button>
      </PanelHeader>
      {isLive ? <LiveView /> : <PastTurnsView />}
    </>
  );
}
