import { getViewportForBounds, useReactFlow } from '@xyflow/react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Box } from './chart-layout.ts';

export const ZOOM = { min: 0.2, max: 2 };
/** "Fit" does not enlarge a small chart beyond this zoom. */
const FITTED_ZOOM = 1.2;
const FIT_PADDING = 0.03;
const READABLE_ZOOM = 0.85;
/** When a whole chart would be smaller than this, its text is too small to read. */
const SMALLEST_WHOLE = 0.5;
const MOVE_MS = 250;

interface Camera {
  readonly frame: RefObject<HTMLElement | null>;
  /** Whether the active state is kept in the middle. */
  readonly isFollowing: boolean;
  readonly follow: () => void;
  /** Stops following, because the reader moves the chart. */
  readonly release: () => void;
  readonly showAll: () => void;
}

/** `free`: where the reader has moved it. `auto`: the whole chart or, in a small frame, the active state. */
type Mode = 'auto' | 'whole' | 'follow' | 'free';

/**
 * What of the chart is in its frame: all of it, or the surroundings of the active state. In a small frame the camera
 * follows the active state by itself, until the reader moves the chart.
 */
export function useCamera(size: Pick<Box, 'width' | 'height'>, focus: Box | null): Camera {
  const { width, height } = size;
  const flow = useReactFlow();
  const frame = useRef<HTMLElement>(null);
  const [mode, setMode] = useState<Mode>('auto');
  const view = useSize(frame);
  const whole = Math.min(view.width / width, view.height / height);
  const isFollowing = mode === 'follow' || (mode === 'auto' && whole < SMALLEST_WHOLE);
  const showsWhole = mode !== 'free' && (!isFollowing || focus === null);
  useEffect(() => {
    if (!showsWhole || view.width === 0) return;
    // React Flow's own `fitView` considers only the states, but arrows lead around them.
    const bounds = { x: 0, y: 0, width, height };
    void flow.setViewport(
      getViewportForBounds(bounds, view.width, view.height, ZOOM.min, FITTED_ZOOM, FIT_PADDING),
    );
  }, [flow, showsWhole, width, height, view]);
  const x = focus && focus.x + focus.width / 2;
  const y = focus && focus.y + focus.height / 2;
  const isPlaced = useRef(false);
  useEffect(() => {
    if (!isFollowing || x === null || y === null || view.width === 0) return;
    void flow.setCenter(x, y, { zoom: READABLE_ZOOM, duration: isPlaced.current ? MOVE_MS : 0 });
    isPlaced.current = true;
  }, [flow, isFollowing, x, y, view]);
  return {
    frame,
    isFollowing,
    follow: () => setMode(isFollowing ? 'free' : 'follow'),
    release: () => setMode('free'),
    showAll: () => setMode('whole'),
  };
}

const UNKNOWN = { width: 0, height: 0 };

function useSize(frame: RefObject<HTMLElement | null>): Pick<Box, 'width' | 'height'> {
  const [size, setSize] = useState(UNKNOWN);
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return size;
}
