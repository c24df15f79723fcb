import type { Scope } from '../../core/access/scopes.ts';
import type { Panel } from './location.ts';

/** What a key must allow for each panel. */
export const PANEL_SCOPES: Readonly<Record<Panel, Scope>> = {
  chat: 'sessions:read',
  timeline: 'sessions:read',
  statecharts: 'sessions:read',
  approvals: 'sessions:read',
  servers: 'servers:read',
  health: 'metrics:read',
};
