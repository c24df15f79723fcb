import { Suspense, use, useState } from 'react';
import style from './app.module.css';
import { ErrorBoundary } from './error-boundary.tsx';
import type { Location, Panel } from './location.ts';
import { PanelLoadError, PanelLoader } from './panel-loader.ts';
import { PanelProblem } from './panel-problem.tsx';
import { PanelUnavailable } from './panel-unavailable.tsx';

/** The panel of the location. If it fails, the rest of the page stays usable. */
export function OpenPanel({ location: { panel, sessionId } }: { readonly location: Location }) {
  const [loader] = useState(() => new PanelLoader());
  return (
    <ErrorBoundary
      key={`${panel} ${sessionId}`}
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

function Loaded({ loader, panel }: { readonly loader: PanelLoader; readonly panel: Panel }) {
  const Content = use(loader.load(panel));
  return <Content />;
}
