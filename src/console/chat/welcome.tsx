import type { AgentDescription } from '../../core/agent-description.ts';
import { Button } from '../ui/button.tsx';
import style from './agent.module.css';
import { useChat } from './chat-context.ts';

/** More would be a menu. */
const MAX_SUGGESTIONS = 3;

/** Stands in an empty session: what the agent is, and messages to begin with. */
export function Welcome({ agent }: { readonly agent: AgentDescription | null }) {
  const { say } = useChat();
  const suggestions = agent?.suggestions.slice(0, MAX_SUGGESTIONS) ?? [];
  return (
    <div className={style.welcome}>
      <h2>{agent?.name ?? 'Say something'}</h2>
      <p>
        {agent?.description ?? 'Say something. Every message and reply of this session is kept in the log.'}
      </p>
      {suggestions.length > 0 && (
        <ul className={style.suggestions} aria-label="Messages to begin with">
          {suggestions.map((suggestion) => (
            <li key={suggestion}>
              <Button onClick={() => say(suggestion)}>{suggestion}</Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
