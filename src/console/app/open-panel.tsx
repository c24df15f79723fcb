import { Suspense, use } from 'react';
import { useAccount } from '../service/account.ts';
import style from './app.module.css';
import { ErrorBoundary } from './error-boundary.tsx';
import type { Panel } from './location.ts';
import { PanelForbidden } from './panel-forbidden.tsx';
import { PanelLoadError, type PanelLoader } from './panel-loader.ts';
import { PanelProblem } from './panel-problem.tsx';
import { maySee, PANEL_SCOPES } from './panel-scopes.ts';
import { PanelUnavailable } from './panel-unavailable.tsx';

interface OpenPanelProps {
  readonly panel: Panel;
  readonly loader: PanelLoader;
}

/** A panel. If it fails, the rest of the page stays usable. */
export function OpenPanel({ panel, loader }: OpenPanelProps) {
  const scope = PANEL_SCOPES[panel];
  if (!maySee(useAccount(), panel)) return <PanelForbidden scope={scope} />;
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
