import type { ComponentType } from 'react';
import type { Panel } from './location.ts';

type Load = () => Promise<ComponentType>;

/** Each panel is a file of its own, loaded when it is opened for the first time. */
const loads: Readonly<Record<Panel, Load>> = {
  chat: async () => (await import('../chat/chat-panel.tsx')).ChatPanel,
  timeline: async () => (await import('../timeline/timeline-panel.tsx')).TimelinePanel,
  statecharts: async () => (await import('../statecharts/statecharts-panel.tsx')).StatechartsPanel,
  approvals: async () => (await import('../approvals/approvals-panel.tsx')).ApprovalsPanel,
  servers: async () => (await import('../servers/servers-panel.tsx')).ServersPanel,
  keys: async () => (await import('../keys/keys-panel.tsx')).KeysPanel,
  health: async () => (await import('../health/health-panel.tsx')).HealthPanel,
};

/** The files of a panel could not be loaded: the service is away, or has another version of the console. */
export class PanelLoadError extends Error {
  override readonly name = 'PanelLoadError';
}

/** Loads panels. A failed panel stays failed until `forget`, so that a page that waits for it does not ask again. */
export class PanelLoader {
  readonly #panels = new Map<Panel, Promise<ComponentType>>();
  #isPageNew = true;

  /** The same promise for each call. Rejects with a `PanelLoadError`. */
  load(panel: Panel): Promise<ComponentType> {
    const known = this.#panels.get(panel);
    if (known) return known;
    const loading = this.#open(panel).catch((cause: unknown) => {
      throw new PanelLoadError('the panel could not be loaded', { cause });
    });
    this.#panels.set(panel, loading);
    return loading;
  }

  /** A browser that could not load a file does not ask for it again in this page, so it first sees whether anybody answers. */
  async #open(panel: Panel): Promise<ComponentType> {
    if (!this.#isPageNew) await fetch('./', { method: 'HEAD', cache: 'no-store' });
    this.#isPageNew = false;
    return loads[panel]();
  }

  /** The next `load` tries again. */
  forget(panel: Panel): void {
    this.#panels.delete(panel);
  }
}
