import { PanelHeader } from '../ui/panel-header.tsx';

export function ChatPanel() {
  return <PanelHeader title="Chat" />;
}
