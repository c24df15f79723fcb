import { Suspense, use } from 'react';
import style from './app.module.css';
import { ErrorBoundary } from './error-boundary.tsx';
import type { Panel } from './location.ts';
import { PanelLoadError, type PanelLoader } from './panel-loader.ts';
import { PanelProblem } from './panel-problem.tsx';
import { PanelUnavailable } from './panel-unavailable.tsx';

interface OpenPanelProps {
  readonly panel: Panel;
  readonly loader: PanelLoader;
}

/** A panel. If it fails, the rest of the page stays usable. */
export function OpenPanel({ panel, loader }: OpenPanelProps) {
  return (
    <ErrorBoundary
      fallback={(error, retry) => {
        const again = () => {
          loader.forget(panel);
          retry();
        };
        return error instanceof PanelLoadError ? (
          <PanelUnavailable onRetry={again} />
        ) : (
          <PanelProblem error={error} onRetry={again} />
        );
      }}
    >
      <Suspense fallback={<p className={style.loading}>Loading…</p>}>
        <Loaded loader={loader} panel={panel} />
      </Suspense>
    </ErrorBoundary>
  );
}

function Loaded({ panel, loader }: OpenPanelProps) {
  const Content = use(loader.load(panel));
  return <Content />;
}
