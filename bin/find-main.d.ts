export interface Main {
  readonly file: string;
  /** Whether the file is TypeScript. */
  readonly fromSource: boolean;
}

/**
 * The file to run. A checkout runs its build, which starts in half the time, if the build was made from the present
 * sources, and otherwise its sources. The package has only the build.
 */
export declare function findMain(root: string): Main;
