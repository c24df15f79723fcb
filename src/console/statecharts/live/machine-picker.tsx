import type { MachineState } from '../../../core/machine-state.ts';
import { Badge } from '../../ui/badge.tsx';
import { innermostState } from '../chart/active-states.ts';
import style from '../statecharts.module.css';
import { type Choice, type HistorySnapshot, machineName } from './machine-history.ts';

interface MachinePickerProps {
  readonly history: HistorySnapshot;
  readonly choice: Choice;
  readonly sessionId: string;
  readonly onChoose: (choice: Choice) => void;
}

/**
 * Chooses the machine that the chart shows. A chosen machine stays chosen when others begin. The last turn of the
 * session stays in the list until the next one begins.
 */
export function MachinePicker({ history, choice, sessionId, onChoose }: MachinePickerProps) {
  const states = [...history.machines.values()].map(({ state }) => state);
  const running = states.filter(({ status }) => status === 'active');
  const pinned = choice.kind === 'machine' ? choice.id : null;
  const last = states.findLast((state) => state.sessionId === sessionId)?.id;
  const listed = states.filter(({ id, status }) => status === 'active' || id === pinned || id === last);
  const hasServer = running.some(({ machine }) => machine === 'mcp-server');
  return (
    <fieldset className={style.picker}>
      <legend>Machine</legend>
      <Option isChosen={pinned === null} onChoose={() => onChoose({ kind: 'follow' })}>
        <span>This session’s turns</span>
        <Badge>follows</Badge>
      </Option>
      {listed.map((state) => (
        <Option
          key={state.id}
          isChosen={state.id === pinned}
          onChoose={() => onChoose({ kind: 'machine', id: state.id, machine: state.machine })}
        >
          <span>{machineName(state)}</span>
          <Badge tone={toneOf(state)}>
            {state.status === 'stopped' ? 'stopped' : innermostState(state.value)}
          </Badge>
        </Option>
      ))}
      {!hasServer && (
        <Option
          isChosen={pinned === ''}
          onChoose={() => onChoose({ kind: 'machine', id: '', machine: 'mcp-server' })}
        >
          <span>Tool server</span>
          <Badge>none runs</Badge>
        </Option>
      )}
    </fieldset>
  );
}

function toneOf({ machine, value }: MachineState) {
  if (value === 'error' || value === 'failed') return 'bad';
  if (value === 'cancelled') return 'warn';
  return value === 'connected' || value === 'completed' ? 'good' : machine === 'turn' ? 'accent' : 'neutral';
}

interface OptionProps {
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: React.ReactNode;
}

function Option({ isChosen, onChoose, children }: OptionProps) {
  return (
    <label className={style.option}>
      <input type="radio" name="machine" checked={isChosen} onChange={onChoose} />
      {children}
    </label>
  );
}
