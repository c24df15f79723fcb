import { useState } from 'react';
import { SideBySide } from '../side-by-side/side-by-side.tsx';
import type { Location, Panel } from './location.ts';
import { OpenPanel } from './open-panel.tsx';
import { PanelLoader } from './panel-loader.ts';

/** The panel of the location; the chat may have another panel beside it. */
export function OpenPanels({ location }: { readonly location: Location }) {
  const [loader] = useState(() => new PanelLoader());
  const { panel, beside, sessionId } = location;
  const opened = (name: Panel) => <OpenPanel key={`${name} ${sessionId}`} panel={name} loader={loader} />;
  if (panel !== 'chat') return opened(panel);
  return <SideBySide location={location} chat={opened(panel)} companion={beside && opened(beside)} />;
}
