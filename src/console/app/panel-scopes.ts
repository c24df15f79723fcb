import type { Scope } from '../../core/access/scopes.ts';
import { type Account, mayDo } from '../service/account.ts';
import { type Panel, panels } from './location.ts';

/** What a key must allow for each panel. */
export const PANEL_SCOPES: Readonly<Record<Panel, Scope>> = {
  chat: 'sessions:read',
  timeline: 'sessions:read',
  statecharts: 'sessions:read',
  approvals: 'sessions:read',
  servers: 'servers:read',
  health: 'metrics:read',
  keys: 'admin',
};

/** Whether the account may see the panel. Keys are only where the service knows who somebody is. */
export function maySee(account: Account | null, panel: Panel): boolean {
  return panel === 'keys' && account === null ? false : mayDo(account, PANEL_SCOPES[panel]);
}

/** The panels that the account may see, in the order of the list and of the number keys. */
export function shownPanels(account: Account | null): readonly Panel[] {
  return panels.filter((panel) => maySee(account, panel));
}
