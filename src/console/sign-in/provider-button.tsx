import { useState } from 'react';
import type { Provider } from '../identity/provider.ts';
import { signInThrough } from '../identity/provider-sign-in.ts';
import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';

interface ProviderButtonProps {
  readonly provider: Provider;
  readonly onProblem: (problem: string | null) => void;
}

/** Leaves the page for the identity provider, which sends the reader back. */
export function ProviderButton({ provider, onProblem }: ProviderButtonProps) {
  const [isLeaving, setLeaving] = useState(false);
  const onClick = async () => {
    setLeaving(true);
    onProblem(null);
    try {
      await signInThrough(provider);
    } catch (error) {
      onProblem(errorText(error));
      setLeaving(false);
    }
  };
  return (
    <Button kind="primary" disabled={isLeaving} onClick={() => void onClick()}>
      {isLeaving ? `Going to ${provider.name}…` : `Sign in with ${provider.name}`}
    </Button>
  );
}
