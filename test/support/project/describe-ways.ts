import { afterAll, beforeAll, describe } from 'vitest';
import { type PublishedBundle, publishedBundle } from '../service/published-bundle.ts';
import { projectRoot } from './source-imports.ts';

/** For `ProcessOptions`. */
export const SOURCES = 'src/app/main.ts';
/** The hook waits for a build while other tests take the processor. */
const BUILD_MS = 480_000;

/** How the process of a test is run. Known once the tests run. */
export interface Way {
  /** For `ProcessOptions`. */
  readonly script: string;
  /** The folder of the package that is run. */
  readonly root: string;
}

/**
 * The same tests of a process twice: from the sources and from the bundle that is published. A file that is read from
 * beside the code, a thread, or code that is loaded late may be missing in the bundle alone.
 */
export function describeWays(title: string, define: (way: Way) => void): void {
  describe.concurrent(`${title}, from the sources`, () => define({ script: SOURCES, root: projectRoot }));
  describe.concurrent(`${title}, from the published bundle`, () => {
    let bundle: PublishedBundle | undefined;
    beforeAll(async () => {
      bundle = await publishedBundle();
    }, BUILD_MS);
    afterAll(() => bundle?.[Symbol.asyncDispose]());
    const built = (): PublishedBundle => {
      if (bundle === undefined) throw new Error('the bundle is not built yet');
      return bundle;
    };
    define({
      get script() {
        return built().script;
      },
      get root() {
        return built().root;
      },
    });
  });
}
