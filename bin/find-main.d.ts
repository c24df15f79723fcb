export interface Main {
  readonly file: string;
  /** It is TypeScript. */
  readonly fromSource: boolean;
}

/**
 * The file to run. In a checkout that is the build if it was made of the very sources that are there, which
 * starts in half the time, and the sources otherwise; the package has only the build.
 */
export declare function findMain(root: string): Main;
