import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './app/tokens.css';
import './app/base.css';
import { App } from './app/app.tsx';
import { ErrorBoundary } from './app/error-boundary.tsx';
import { PanelProblem } from './app/panel-problem.tsx';
import { returnedFromProvider } from './identity/provider-sign-in.ts';
import { HubLink } from './service/hub-link.ts';
import { Gate } from './sign-in/gate.tsx';

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element #console');
const returned = returnedFromProvider();
const hub = new HubLink();
createRoot(root).render(
  <StrictMode>
    <ErrorBoundary fallback={(error, retry) => <PanelProblem error={error} onRetry={retry} />}>
      <Gate returned={returned}>
        <App hub={hub} />
      </Gate>
    </ErrorBoundary>
  </StrictMode>,
);
