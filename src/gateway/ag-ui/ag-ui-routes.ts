import { scopesOfAll } from '../../ports/request-rules.ts';
import type { Route } from '../http/router.ts';
import type { AgUiDeps } from './ag-ui-run.ts';

/** AG-UI 1.0, for pages that show an agent at work. Its code is loaded by the first request. */
export function agUiRoutes(deps: AgUiDeps): Route[] {
  return [
    {
      method: 'POST',
      path: '/ag-ui',
      takesImages: true,
      access: scopesOfAll('turn.start', 'session.events'),
      mayStream: true,
      // By the id of the run.
      isDoneOnce: () => true,
      handler: async (request) => (await import('./ag-ui-run.ts')).runAgent(deps, request),
    },
  ];
}
