import { useEffect, useState } from 'react';
import { Button } from './button.tsx';

/** How long the button says that it has copied. */
const SAID_MS = 1_500;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers, such as `the reply`. */
  readonly what: string;
}

/** Copies a text. Browsers allow that on secure origins only; elsewhere there is no button. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const [said, setSaid] = useState<'Copied' | 'Not allowed' | null>(null);
  useEffect(() => {
    if (said === null) return undefined;
    const timer = setTimeout(() => setSaid(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  if (!window.isSecureContext) return null;
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed'),
    );
  return (
    <Button kind="quiet" onClick={() => void copy()} aria-label={said ?? `Copy ${what}`}>
      {said ?? 'Copy'}
    </Button>
  );
}
