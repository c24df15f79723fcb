import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface ScrollWindow {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly scroll: { readonly top: number; readonly height: number };
  /** Brings that stretch into view, by as little as possible. */
  readonly show: (top: number, height: number) => void;
  /** Keeps what is in view where it is, when so much has come before it. */
  readonly keepBelow: (height: number) => void;
}

/** How close to the end counts as being there. */
const AT_END = 60;

/** Where a list is scrolled to. One that is at its end stays there while it grows. */
export function useScrollWindow(contentHeight: number): ScrollWindow {
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [scroll, setScroll] = useState({ top: 0, height: 0 });
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const note = () => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < AT_END;
      setScroll({ top: scrollTop, height: clientHeight });
    };
    note();
    const observer = new ResizeObserver(note);
    observer.observe(element);
    element.addEventListener('scroll', note, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', note);
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
