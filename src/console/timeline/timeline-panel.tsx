import { PanelHeader } from '../ui/panel-header.tsx';

export function TimelinePanel() {
  return <PanelHeader title="Timeline" />;
}
