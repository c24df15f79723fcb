import { useState } from 'react';
import type { AgentDescription } from '../../core/agent-description.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import style from './agent.module.css';

type Tool = AgentDescription['tools'][number];

const policies: Readonly<Record<Tool['policy'], readonly [Tone, string] | null>> = {
  auto: null,
  ask: ['warn', 'asks first'],
  deny: ['bad', 'denied'],
};

/** The model and the number of tools; a click shows the agent with its prompt and all tools. */
export function AgentButton({ agent }: { readonly agent: AgentDescription }) {
  const [isOpen, setOpen] = useState(false);
  const { model, tools } = agent;
  const count = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
  return (
    <>
      <Button
        kind="quiet"
        className={style.button}
        onClick={() => setOpen(true)}
        aria-label={`${model.name} · ${count}`}
        title="About this agent"
      >
        <span className={style.model}>{model.name}</span>
        <span>· {count}</span>
      </Button>
      {isOpen && <AgentDialog agent={agent} onClose={() => setOpen(false)} />}
    </>
  );
}

function AgentDialog({
  agent: { name, description, model, systemPrompt, tools },
  onClose,
}: {
  readonly agent: AgentDescription;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={name} onClose={onClose}>
      {description !== undefined && <p>{description}</p>}
      <dl className={style.facts}>
        <dt>Model</dt>
        <dd>
          {model.name} <span className={style.muted}>{model.provider}</span>
        </dd>
        <dt>Prompt</dt>
        <dd>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard */}
          <pre className={style.prompt} tabIndex={0}>
            {systemPrompt || 'none'}
          </pre>
        </dd>
        <dt>Tools</dt>
        <dd>{tools.length === 0 ? 'none' : <Tools tools={tools} />}</dd>
      </dl>
    </Dialog>
  );
}

function Tools({ tools }: { readonly tools: readonly Tool[] }) {
  return (
    <ul className={style.tools}>
      {tools.map(({ serverId, name, description, policy }) => {
        const mark = policies[policy];
        return (
          <li key={`${serverId} ${name}`}>
            <code>{name}</code> <span className={style.muted}>{serverId}</span>{' '}
            {mark && <Badge tone={mark[0]}>{mark[1]}</Badge>}
            {description !== '' && <p className={style.muted}>{description}</p>}
          </li>
        );
      })}
    </ul>
  );
}
