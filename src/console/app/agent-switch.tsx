import { agentBase } from '../service/agent-base.ts';
import { useAgents } from '../service/use-agents.ts';
import style from './sidebar.module.css';

/** Links to the agents of the service. Nothing if there is only one. */
export function AgentSwitch() {
  const agents = useAgents();
  if (agents.length < 2) return null;
  return (
    <nav className={style.agents} aria-label="Agents">
      {agents.map(({ agentId, isDefault, name }) => {
        const base = `/agents/${agentId}`;
        const isShown = agentBase === base || (agentBase === '' && isDefault);
        return (
          <a key={agentId} href={`${base}/`} aria-current={isShown ? 'page' : undefined}>
            {name === 'agent-service' ? agentId : name}
          </a>
        );
      })}
    </nav>
  );
}
