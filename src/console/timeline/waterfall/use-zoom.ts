import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

export const ZOOM = { least: 1, most: 256 };
const STEP = 1.5;

export interface Zoom {
  /** 1: the longest turn fits. */
  readonly factor: number;
  readonly zoomIn: () => void;
  readonly zoomOut: () => void;
  /** Zooms so far that a piece of this part of the whole length, from 0 to 1, fills the width. */
  readonly fit: (part: number) => void;
  /** @returns whether the key zooms. */
  readonly onKey: (event: KeyboardEvent) => boolean;
}

/**
 * The zoom of a horizontally scrolled area: by buttons, by keys, and by the wheel with Ctrl held or a pinch on a
 * touchpad. The time under the pointer stays where it is; without a pointer, the one in the middle.
 * @param origin Where time 0 is in the content, in pixels. Nothing left of it is zoomed.
 */
export function useZoom(area: RefObject<HTMLElement | null>, origin: number): Zoom {
  const [factor, setFactor] = useState(1);
  const anchor = useRef<{ readonly x: number; readonly part: number } | null>(null);
  const zoomTo = (wanted: number, pointerX?: number) => {
    const next = Math.min(ZOOM.most, Math.max(ZOOM.least, wanted));
    const element = area.current;
    if (!element || next === factor) return;
    const x = Math.max(origin, pointerX ?? (origin + element.clientWidth) / 2);
    anchor.current = { x, part: (element.scrollLeft + x - origin) / factor };
    setFactor(next);
  };
  useLayoutEffect(() => {
    if (!area.current || !anchor.current) return;
    const { x, part } = anchor.current;
    area.current.scrollLeft = part * factor + origin - x;
    anchor.current = null;
  }, [area, origin, factor]);
  useWheel(area, (event) => {
    const { left } = area.current?.getBoundingClientRect() ?? { left: 0 };
    zoomTo(factor * 1.01 ** -event.deltaY, event.clientX - left);
  });
  const onKey = ({ key }: KeyboardEvent): boolean => {
    if (key === '+' || key === '=') zoomTo(factor * STEP);
    else if (key === '-') zoomTo(factor / STEP);
    else if (key === '0') zoomTo(1);
    else return false;
    return true;
  };
  return {
    factor,
    zoomIn: () => zoomTo(factor * STEP),
    zoomOut: () => zoomTo(factor / STEP),
    fit: (part) => zoomTo(1 / part, origin),
    onKey,
  };
}

/** React's own wheel listeners cannot keep the browser from zooming the page. */
function useWheel(area: RefObject<HTMLElement | null>, zoom: (event: WheelEvent) => void): void {
  const latest = useRef(zoom);
  useEffect(() => {
    latest.current = zoom;
  });
  useEffect(() => {
    const element = area.current;
    if (!element) return undefined;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      latest.current(event);
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [area]);
}
