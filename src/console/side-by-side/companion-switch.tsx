import { adjust, type Companion, companions, useLocation } from '../app/location.ts';
import { Button } from '../ui/button.tsx';
import { Segments } from '../ui/segments.tsx';

export const companionNames: Readonly<Record<Companion, string>> = {
  timeline: 'Timeline',
  statecharts: 'Statechart',
};

const choices = companions.map((companion) => ({ value: companion, name: companionNames[companion] }));

/** Chooses the panel beside the chat. It stands where the title of that panel would be. */
export function CompanionSwitch({ companion }: { readonly companion: Companion }) {
  return (
    <Segments
      label="Beside the chat"
      choices={choices}
      chosen={companion}
      onChoose={(beside) => adjust({ beside })}
    />
  );
}

/** Opens and closes the panel beside the chat. */
export function SideBySideButton() {
  const { beside } = useLocation();
  return (
    <Button
      aria-pressed={beside !== undefined}
      title="Show the timeline or the statechart beside the chat"
      onClick={() => adjust({ beside: beside ? undefined : 'timeline' })}
    >
      Side by side
    </Button>
  );
}
