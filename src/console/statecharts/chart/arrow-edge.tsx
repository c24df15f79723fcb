import { EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';
import { arrowHead, roundedPath } from './arrow-path.ts';
import style from './chart.module.css';
import type { ArrowEdge as ArrowEdgeData } from './chart-flow.ts';

/** A transition, drawn along its route in the layout. */
export const ArrowEdge = memo(function ArrowEdge({ id, data }: EdgeProps<ArrowEdgeData>) {
  if (!data) return null;
  const { route, label, isTaken } = data;
  const { points, label: box } = route;
  return (
    <g className={style.arrow} data-transition={id} data-taken={isTaken}>
      <path d={roundedPath(points)} className={style.shaft} />
      <path d={arrowHead(points)} className={style.head} />
      {box && (
        <EdgeLabelRenderer>
          <div
            className={style.label}
            data-taken={isTaken}
            style={{ transform: `translate(${box.x}px, ${box.y}px)`, width: box.width }}
          >
            {label.map((line) => (
              <span key={line}>{line}</span>
            ))}
          </div>
        </EdgeLabelRenderer>
      )}
    </g>
  );
});
