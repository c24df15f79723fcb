import { PanelHeader } from '../ui/panel-header.tsx';

export function HealthPanel() {
  return <PanelHeader title="Health" />;
}
