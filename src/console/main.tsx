import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './app/tokens.css';
import './app/base.css';
import { App } from './app/app.tsx';
import { ErrorBoundary } from './app/error-boundary.tsx';
import { PanelProblem } from './app/panel-problem.tsx';

import { HubLink } from './service/hub-link.ts';

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element #console');
const hub = new HubLink();
createRoot(root).render(
  <StrictMode>
    <ErrorBoundary fallback={(error, retry) => <PanelProblem error={error} onRetry={retry} />}>
      <App hub={hub} />
    </ErrorBoundary>
  </StrictMode>,
);
