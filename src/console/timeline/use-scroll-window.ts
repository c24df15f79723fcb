import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface Scroll {
  readonly top: number;
  readonly left: number;
  readonly width: number;
  readonly height: number;
}

interface ScrollWindow {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly scroll: Scroll;
  /** Scrolls as little as possible to bring the range into view. */
  readonly show: (top: number, height: number) => void;
  /** Keeps the rows in view in place after rows of this height were added above them. */
  readonly keepBelow: (height: number) => void;
}

/** Up to this distance from the end, in pixels, the list counts as scrolled to its end. */
const AT_END = 60;

/** The scroll position of a list, in pixels. A list that is scrolled to its end stays there while it grows. */
export function useScrollWindow(contentHeight: number): ScrollWindow {
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [scroll, setScroll] = useState<Scroll>({ top: 0, left: 0, width: 0, height: 0 });
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const update = () => {
      const { scrollTop, scrollLeft, clientWidth, clientHeight, scrollHeight } = element;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < AT_END;
      setScroll({ top: scrollTop, left: scrollLeft, width: clientWidth, height: clientHeight });
    };
    update();
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, []);
  useLayoutEffect(() => {
    if (list.current && isAtEnd.current) list.current.scrollTop = contentHeight;
  }, [contentHeight]);
  const show = useCallback((top: number, height: number) => {
    const element = list.current;
    if (!element) return;
    const lowest = top + height - element.clientHeight;
    element.scrollTop = Math.min(top, Math.max(lowest, element.scrollTop));
  }, []);
  const keepBelow = useCallback((height: number) => {
    if (list.current && !isAtEnd.current) list.current.scrollTop += height;
  }, []);
  return { list, scroll, show, keepBelow };
}
