import { PanelHeader } from '../ui/panel-header.tsx';

export function ServersPanel() {
  return <PanelHeader title="Servers" />;
}
