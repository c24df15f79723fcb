import { PanelHeader } from '../ui/panel-header.tsx';

export function StatechartsPanel() {
  return <PanelHeader title="Statecharts" />;
}
