import { useRef, useState } from 'react';
import type { TimedEvent } from '../service/timed-event.ts';
import { Button } from '../ui/button.tsx';
import { Json } from '../ui/json.tsx';
import style from './timeline.module.css';

/** The event as `GET /api/sessions/{id}/events` returns it, folded. */
export function EventJson({ event }: { readonly event: TimedEvent }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details
      className={style.json}
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary>JSON</summary>
      {isOpen && <Opened event={event} />}
    </details>
  );
}

function Opened({ event }: { readonly event: TimedEvent }) {
  const content = useRef<HTMLDivElement>(null);
  const [status, setStatus] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(JSON.stringify(event, null, 2));
      setStatus('Copied');
    } catch {
      // Insecure origins have no clipboard, and users may refuse it. Select the text instead.
      if (content.current) window.getSelection()?.selectAllChildren(content.current);
      setStatus('Selected: copy it with the keyboard');
    }
  };
  return (
    <>
      <div className={style.copy}>
        <span role="status">{status}</span>
        <Button onClick={() => void copy()}>Copy</Button>
      </div>
      <div ref={content}>
        <Json value={event} />
      </div>
    </>
  );
}
