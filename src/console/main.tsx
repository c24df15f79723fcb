import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './app/tokens.css';
import './app/base.css';
import { App } from './app/app.tsx';

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element #console');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
