import { getViewportForBounds, useReactFlow } from '@xyflow/react';
import { type KeyboardEvent, type ReactNode, type RefObject, useCallback, useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import style from './chart.module.css';

interface ChartCanvasProps {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly children: ReactNode;
}

export const ZOOM = { min: 0.2, max: 2 };
/** "Fit" does not enlarge a small chart beyond this zoom. */
const FITTED_ZOOM = 1.2;
const FIT_PADDING = 0.03;
const STEP = 60;
const moves: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [STEP, 0],
  ArrowRight: [-STEP, 0],
  ArrowUp: [0, STEP],
  ArrowDown: [0, -STEP],
};

/** The frame around a chart. Keys and buttons move and zoom the chart, too. */
export function ChartCanvas({ name, width, height, children }: ChartCanvasProps) {
  const flow = useReactFlow();
  const frame = useRef<HTMLElement>(null);
  const showAll = useFit(frame, width, height);
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key];
    if (move) {
      const { x, y, zoom } = flow.getViewport();
      void flow.setViewport({ x: x + move[0], y: y + move[1], zoom });
    } else if (event.key === '+') void flow.zoomIn();
    else if (event.key === '-') void flow.zoomOut();
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
    >
      {children}
      <div className={style.zoom}>
        <Button aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
          +
        </Button>
        <Button aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
          −
        </Button>
        <Button onClick={showAll}>Fit</Button>
      </div>
    </section>
  );
}

/** Fits the chart into its frame whenever one of them changes its size. @returns a function that fits it again. */
function useFit(frame: RefObject<HTMLElement | null>, width: number, height: number): () => void {
  const flow = useReactFlow();
  // React Flow's own `fitView` considers only the states, but arrows lead around them.
  const showAll = useCallback(() => {
    const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {};
    const bounds = { x: 0, y: 0, width, height };
    void flow.setViewport(
      getViewportForBounds(bounds, clientWidth, clientHeight, ZOOM.min, FITTED_ZOOM, FIT_PADDING),
    );
  }, [flow, frame, width, height]);
  useEffect(() => {
    if (!frame.current) return undefined;
    const observer = new ResizeObserver(showAll);
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [frame, showAll]);
  return showAll;
}
