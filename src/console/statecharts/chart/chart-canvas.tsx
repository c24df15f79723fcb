import { useReactFlow } from '@xyflow/react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import style from './chart.module.css';
import type { Box } from './chart-layout.ts';
import { useCamera } from './use-camera.ts';

interface ChartCanvasProps {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** The innermost active state. */
  readonly focus: Box | null;
  readonly children: ReactNode;
}

const STEP = 60;
const moves: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [STEP, 0],
  ArrowRight: [-STEP, 0],
  ArrowUp: [0, STEP],
  ArrowDown: [0, -STEP],
};

/** The frame around a chart. Keys and buttons move and zoom the chart, too. */
export function ChartCanvas({ name, width, height, focus, children }: ChartCanvasProps) {
  const flow = useReactFlow();
  const { frame, isFollowing, follow, release, showAll } = useCamera({ width, height }, focus);
  const zoomIn = () => {
    release();
    void flow.zoomIn();
  };
  const zoomOut = () => {
    release();
    void flow.zoomOut();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key];
    if (move) {
      const { x, y, zoom } = flow.getViewport();
      release();
      void flow.setViewport({ x: x + move[0], y: y + move[1], zoom });
    } else if (event.key === '+') zoomIn();
    else if (event.key === '-') zoomOut();
    else if (event.key === '0') showAll();
    else return;
    event.preventDefault();
  };
  return (
    <section
      ref={frame}
      className={style.canvas}
      aria-label={`Chart of the ${name} machine. Arrow keys move it, plus and minus zoom, zero shows all.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
      tabIndex={0}
      onKeyDown={onKeyDown}
      // A hand on the chart takes the camera from it.
      onPointerDownCapture={({ target }) => {
        if (target instanceof Element && !target.closest('button')) release();
      }}
      onWheelCapture={release}
    >
      {children}
      <div className={style.zoom}>
        <Button aria-label="Zoom in" onClick={zoomIn}>
          +
        </Button>
        <Button aria-label="Zoom out" onClick={zoomOut}>
          −
        </Button>
        <Button onClick={showAll}>Fit</Button>
        <Button aria-pressed={isFollowing} title="Keep the active state in the middle" onClick={follow}>
          Follow
        </Button>
      </div>
    </section>
  );
}
