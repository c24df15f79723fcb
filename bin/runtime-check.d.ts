/** The Node that `npm ci` installs beside the service. */
export declare const PINNED_NODE: string;

export interface RuntimeProbes {
  /** Whether the service runs from its TypeScript sources. */
  readonly fromSource: boolean;
  /** Loads uWebSockets.js; replaced in tests. */
  readonly loadServer?: () => Promise<unknown>;
}

/** Explains in one line why this Node cannot run the service; undefined if it can. */
export declare function checkRuntime(probes: RuntimeProbes): Promise<string | undefined>;
