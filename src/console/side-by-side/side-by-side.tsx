import { type ReactNode, useEffect, useRef, useState } from 'react';
import { adjust, type Companion, companions, type Location } from '../app/location.ts';
import { PanelTitle } from '../ui/panel-header.tsx';
import { Segments } from '../ui/segments.tsx';
import { CompanionSwitch, companionNames } from './companion-switch.tsx';
import style from './side-by-side.module.css';
import { Splitter } from './splitter.tsx';
import { useNarrow } from './use-narrow.ts';
import { useShare } from './use-share.ts';

interface SideBySideProps {
  readonly location: Location;
  readonly chat: ReactNode;
  /** The panel beside the chat. */
  readonly companion: ReactNode;
}

/** The chat, and beside it the timeline or the statechart. On a narrow display, tabs show one of them at a time. */
export function SideBySide({ location, chat, companion }: SideBySideProps) {
  const { beside } = location;
  const isNarrow = useNarrow();
  const [tab, setTab] = useTab(location);
  const [share, setShare] = useShare();
  const showsChat = !beside || !isNarrow || tab === 'chat';
  const showsCompanion = beside && (!isNarrow || tab === 'companion');
  const pane = useTurnInView(location.turnId, showsChat);
  const isSplit = beside && !isNarrow;
  return (
    <>
      {beside && isNarrow && <Tabs beside={beside} tab={tab} onChoose={setTab} />}
      <div
        className={style.panes}
        style={
          isSplit ? { gridTemplateColumns: `minmax(0, ${share}fr) auto minmax(0, ${100 - share}fr)` } : {}
        }
      >
        {/* The hidden chat stays in the page, with what was typed in it. */}
        <section ref={pane} className={style.pane} aria-label="Chat" hidden={!showsChat}>
          {chat}
        </section>
        {isSplit && <Splitter share={share} onChange={setShare} />}
        {showsCompanion && (
          <section className={style.pane} aria-label={companionNames[beside]}>
            <PanelTitle value={isNarrow ? null : <CompanionSwitch companion={beside} />}>
              {companion}
            </PanelTitle>
          </section>
        )}
      </div>
    </>
  );
}

type Tab = 'chat' | 'companion';

/** The tab on a narrow display. Choosing a turn in the chat, or opening the companion, shows the companion. */
function useTab({ beside, turnId }: Location): [Tab, (tab: Tab) => void] {
  const [tab, setTab] = useState<Tab>('chat');
  const [before, setBefore] = useState({ isOpen: beside !== undefined, turnId });
  const isOpen = beside !== undefined;
  if (before.isOpen !== isOpen || before.turnId !== turnId) {
    setBefore({ isOpen, turnId });
    if (isOpen && (turnId !== undefined || !before.isOpen)) setTab('companion');
  }
  return [tab, setTab];
}

interface TabsProps {
  readonly beside: Companion;
  readonly tab: Tab;
  readonly onChoose: (tab: Tab) => void;
}

function Tabs({ beside, tab, onChoose }: TabsProps) {
  const choices = [
    { value: 'chat' as const, name: 'Chat' },
    ...companions.map((value) => ({ value, name: companionNames[value] })),
  ];
  const choose = (value: Companion | 'chat') => {
    onChoose(value === 'chat' ? 'chat' : 'companion');
    if (value !== 'chat') adjust({ beside: value });
  };
  return (
    <div className={style.tabs}>
      <Segments
        label="Chat, timeline or statechart"
        choices={choices}
        chosen={tab === 'chat' ? 'chat' : beside}
        onChoose={choose}
      />
    </div>
  );
}

/** Scrolls the chat to the chosen turn when it is chosen elsewhere, and when the chat appears. */
function useTurnInView(turnId: string | undefined, isVisible: boolean) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    if (turnId === undefined || !isVisible) return;
    const turn = pane.current?.querySelector(`[data-turn-id="${CSS.escape(turnId)}"]`);
    turn?.scrollIntoView({ block: 'nearest' });
  }, [turnId, isVisible]);
  return pane;
}
