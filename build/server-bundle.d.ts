/**
 * @param input entry files by the names of their bundles.
 * @param outDir is emptied first.
 * @param more `external`: packages that stay outside of the bundles. `paths`: files that take the place of such packages.
 */
export function bundleServer(
  input: Readonly<Record<string, string>>,
  outDir: string,
  more?: { readonly external?: readonly string[]; readonly paths?: Readonly<Record<string, string>> },
): Promise<void>;
