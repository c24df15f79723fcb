import { Handle, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';
import style from './chart.module.css';
import type { StateNode as StateNodeData } from './chart-flow.ts';

/** A state: its name, its effects, and the transitions that have no arrow. */
export const StateNode = memo(function StateNode({ id, data }: NodeProps<StateNodeData>) {
  const { name, kind, lines, isActive } = data;
  return (
    <div className={`${style.state} ${style[kind]}`} data-state={id} data-active={isActive}>
      <Handle type="target" position={Position.Top} isConnectable={false} className={style.handle} />
      {kind !== 'start' && (
        <>
          <strong>{name}</strong>
          {lines.map(({ text, isTaken }) => (
            <span key={text} className={style.line} data-taken={isTaken}>
              {text}
            </span>
          ))}
        </>
      )}
      <Handle type="source" position={Position.Bottom} isConnectable={false} className={style.handle} />
    </div>
  );
});
