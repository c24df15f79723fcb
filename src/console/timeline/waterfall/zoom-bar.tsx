import { Button } from '../../ui/button.tsx';
import { ZOOM, type Zoom } from './use-zoom.ts';
import style from './waterfall.module.css';

interface ZoomBarProps {
  readonly zoom: Zoom;
  /** Whether a long wait is drawn shorter than it was. */
  readonly isCut: boolean;
  readonly fits: 'all' | 'turn';
  readonly onFit: () => void;
}

/** What the colours mean, and the buttons of the zoom. */
export function ZoomBar({ zoom, isCut, fits, onFit }: ZoomBarProps) {
  const { factor, zoomIn, zoomOut } = zoom;
  return (
    <div className={style.bar}>
      <ul className={style.legend} aria-label="Colours">
        <li data-kind="model">model</li>
        <li data-kind="tool">tool</li>
        <li data-kind="approval">approval</li>
        <li data-kind="queue">queue</li>
        {isCut && <li data-kind="cut">long wait, shortened</li>}
      </ul>
      <div className={style.buttons} title="Ctrl and the mouse wheel, or the keys + - 0">
        <Button aria-label="Zoom out" disabled={factor <= ZOOM.least} onClick={zoomOut}>
          −
        </Button>
        <Button aria-label="Zoom in" disabled={factor >= ZOOM.most} onClick={zoomIn}>
          +
        </Button>
        <Button onClick={onFit}>{fits === 'all' ? 'Fit' : 'Fit turn'}</Button>
      </div>
    </div>
  );
}
